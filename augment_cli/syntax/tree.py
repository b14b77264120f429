"""What the adaptors make of a label scheme: the same roles and the same heads for every parse."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Role(IntEnum):
    """What a token is to its head, in the few words that rules need."""

    OTHER = 0
    ROOT = 1
    SUBJECT = 2  # nominal subject, active or passive
    CLAUSAL_SUBJECT = 3
    EXPLETIVE = 4  # existential "there"
    AUXILIARY = 5  # of tense, mood or the passive
    INFINITIVE = 6  # the "to" of an infinitive
    NEGATION = 7  # not, n't, never
    MARKER = 8  # because, that, if
    CLAUSE = 9  # head of a subordinate clause: complement, adverbial, adnominal, relative, open
    PUNCTUATION = 10
    CONJUNCT = 11


@dataclass(frozen=True)
class Tree:
    """Roles and heads of the N tokens of a batch."""

    roles: np.ndarray  # values of `Role`
    parents: np.ndarray  # head of each token as a position in the flat arrays; a root is its own head


def any_of(codes: np.ndarray, wanted: Collection[int]) -> np.ndarray:
    """bool, the shape of `codes`: whether each is one of a few; `np.isin` takes five times as long."""
    mask = np.zeros(codes.shape, bool)
    for code in wanted:
        mask |= codes == code
    return mask


def words(text: str) -> frozenset[str]:
    """A word list written as one string."""
    return frozenset(text.split())


NEGATIONS = frozenset({"not", "n't", "n’t", "nt", "never"})


def first_of_group(groups: np.ndarray, count: int) -> np.ndarray:
    """int64 (count,): the first index at which each group 0 … count−1 occurs in `groups`, or −1."""
    first = np.full(count, -1)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)  # of equal targets the last write stays
    return first
