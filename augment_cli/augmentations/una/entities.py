"""Names, numbers and dates among the tokens of sentences, by kind, and others of the same kind to draw.

A token is an entity by its term (`entity_kinds.py`), by the tokens beside it (what follows a first name is a
surname, a small number beside a month is a day), and if it is no part of something longer
(`entity_context.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.entity_kinds import (
    DAY,
    FEMALE,
    MALE,
    MONTH,
    NO_ENTITY,
    NUMBERS,
    SURNAME,
    kinds_of_terms,
)
from augment_cli.augmentations.una.vocabulary import Vocabulary
from augment_cli.contract.rows import TokenRows
from augment_cli.resources.word_lists import word_set
from augment_cli.tfidf import forms
from augment_cli.tfidf.term_table import TermTable

_DAYS = r"^(?:[1-9]|1\d|2[0-8])$"
_NAME = r"^\pL[\pL-]{2,}$"  # no initial, no `Jr.`
_ROMAN = r"^[ivx]+$"
# What a first name before it makes no surname: `James Bay`, `Charles River`.
_NO_SURNAME = (
    "river bay lake island islands street avenue road square church cathedral college university school "
    "hospital hall house palace castle foundation prize award airport museum park county city town "
    "village cup bridge day society company trophy stadium tower medal theatre theater center centre jr "
    "sr junior senior fort mount point cape"
)


@dataclass(frozen=True, eq=False)
class Entities:
    """What a vocabulary has of each kind."""

    kinds: np.ndarray  # kind of each term by itself, NO_ENTITY for other words; the last for −1
    is_day: np.ndarray  # numbers that a day of a month can have
    may_be_surname: np.ndarray  # names behind a first name
    members: np.ndarray  # terms to draw, kind by kind
    member_kinds: np.ndarray  # the kind of each
    table: TermTable  # their sentence counts as scores, to draw from

    def draw(self, ids: np.ndarray, kinds: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """For each term (m,) another of its kind (m,), with probability ∝ sentence count; −1 for none."""
        size = len(self.kinds)
        keys, members = kinds * size + ids, self.member_kinds * size + self.members
        place = np.searchsorted(members, keys)
        found = np.append(members, -1)[place] == keys
        low, high = (np.searchsorted(self.member_kinds, kinds, side) for side in ("left", "right"))
        drawn = self.table.draw_between(low, high, place, found, uniforms)
        return np.where(drawn >= 0, np.append(self.members, -1)[drawn], -1)

    def of_tokens(
        self,
        tokens: TokenRows,
        ids: np.ndarray,
        has_capital: np.ndarray,
        is_first: np.ndarray,
        cases: np.ndarray,
    ) -> np.ndarray:
        """The kind of each token, int64 (N,)."""
        # ids: ndarray of int32, shape (N,); Terms of the vocabulary.
        # has_capital, is_first: ndarray of bool, shape (N,); Whether a token begins with a capital, and
        # whether it begins its row.
        # cases: ndarray of int8, shape (V+1,); How each term is mostly written.
        kinds = self.kinds[ids]
        same_row = tokens.rows[1:] == tokens.rows[:-1]
        # `In May`, but not `May I`; `March` the month, but not `march`.
        doubtful = is_first & (cases[ids] == forms.AS_IT_IS)
        named = (kinds >= 0) & (kinds < NUMBERS)
        kinds = np.where(named & (~has_capital | doubtful), NO_ENTITY, kinds)
        month = kinds == MONTH
        beside = np.append(False, month[:-1] & same_row) | np.append(month[1:] & same_row, False)
        return np.where(beside & self.is_day[ids], DAY, kinds)

    def full_names(
        self, tokens: TokenRows, ids: np.ndarray, kinds: np.ndarray, is_capital: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """First names, and the surnames behind them, where the two are the whole name."""
        # `Mary Shelley`, and neither `Sir Thomas More`, `James I` nor `Robert Louis Stevenson`.
        # ids: ndarray of int32, shape (N,)
        # kinds: ndarray of int64, shape (N,)
        # is_capital: ndarray of bool, shape (N,); Tokens with a capital of their own.
        # Returns tuple of ndarray of int64; the tokens of the first names, and of the surnames, one for
        # each.
        index = np.arange(len(ids) - 1)
        rows, starts, ends = tokens.rows, tokens.starts, tokens.ends
        joined = np.append((rows[1:] == rows[:-1]) & (starts[1:] == ends[:-1] + 1), False)
        given = (kinds == MALE) | (kinds == FEMALE)
        capital_behind = np.append(is_capital[1:] & joined[:-1], False)
        capital_before = np.append(False, is_capital[:-1] & joined[:-1])
        whole = given[:-1] & joined[:-1] & is_capital[1:] & self.may_be_surname[ids[1:]] & ~given[1:]
        whole &= ~capital_before[:-1] & ~capital_behind[1:]
        first = index[whole]
        return first, first + 1


@lru_cache(maxsize=2)
def entities_of(vocabulary: Vocabulary) -> Entities:
    """The entities of a vocabulary; kept, as it is."""
    table = vocabulary.table
    kinds = kinds_of_terms(table)
    is_day = pc.match_substring_regex(table.terms, _DAYS).to_numpy(zero_copy_only=False)
    surname = pc.match_substring_regex(table.terms, _NAME)
    surname = pc.and_(surname, pc.invert(pc.match_substring_regex(table.terms, _ROMAN)))
    surname = pc.and_(surname, pc.invert(pc.is_in(table.terms, pa.array(_NO_SURNAME.split()))))
    may_be = surname.to_numpy(zero_copy_only=False) & (table.cases != forms.AS_IT_IS)
    may_be &= (kinds == NO_ENTITY) | (kinds == SURNAME)
    for name in ("male_names", "female_names"):  # `Mary Joe`
        may_be &= ~pc.is_in(table.terms, word_set(name)).to_numpy(zero_copy_only=False)

    drawable = vocabulary.drawable
    named = np.flatnonzero(drawable & (kinds != NO_ENTITY))
    days = np.flatnonzero(drawable & is_day)
    members = np.concatenate([named, days])
    member_kinds = np.concatenate([kinds[named], np.full(len(days), DAY)])
    order = np.lexsort((members, member_kinds))
    members, member_kinds = members[order], member_kinds[order]
    counts = table.document_frequency
    weights = np.ones(len(members)) if counts is None else counts[members].astype(np.float64)
    scores = TermTable(table.terms.take(members), table.idf[members], weights)
    return Entities(
        np.append(kinds, NO_ENTITY),
        np.append(is_day, False),
        np.append(may_be, False),
        members,
        member_kinds,
        scores,
    )
