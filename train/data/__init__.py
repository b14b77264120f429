"""Which rows a step trains on; texts as the trainer knows them: token ids, a number for each distinct one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from augment_cli.contract.draws import splitmix64
from augment_cli.text.spans import ranges

CORPUS = "corpus"  # the stage of the sentences themselves
SELF = "self"  # in place of a stage: the anchor again

Ids = np.ndarray | None  # token ids of one text, shape (length,); None where there is no such text

# Text ids of what is not a text. All real ones are at least 0.
NO_SENTENCE = -2  # of a negative that stands for no sentence, such as noise
NO_TEXT = -1  # of padding, or of a negative that its augmentation could not make


@dataclass(frozen=True)
class Texts(Sequence[Ids]):
    """The token ids of n texts, one text after the other, so that whole batches are arranged at once."""

    values: np.ndarray  # token ids of all texts, shape (tokens,), integers
    lengths: np.ndarray  # tokens of each text, shape (n,), int64; 0 where there is none
    present: np.ndarray  # where there is a text, shape (n,), bool
    numbers: np.ndarray | None = None  # `text_ids` of texts as the encoder sees them, where they are known

    @classmethod
    def of(cls, texts: Sequence[Ids]) -> Texts:
        """The same texts as `Texts`, which they may be already."""
        if isinstance(texts, Texts):
            return texts
        known = [ids for ids in texts if ids is not None]
        return cls(
            np.concatenate(known) if known else np.zeros(0, dtype=np.int64),
            np.array([0 if ids is None else len(ids) for ids in texts], dtype=np.int64),
            np.array([ids is not None for ids in texts], dtype=bool),
        )

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """The texts of one part after those of another; at least one part."""
        parts = [part for part in parts if len(part)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        numbers = [part.numbers for part in parts if part.numbers is not None]
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.present for part in parts]),
            np.concatenate(numbers) if len(numbers) == len(parts) else None,
        )

    @classmethod
    def missing(cls, count: int) -> Texts:
        """Places of texts that are not there."""
        return cls(
            np.zeros(0, np.int64), np.zeros(count, np.int64), np.zeros(count, bool), np.full(count, NO_TEXT)
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> Ids: ...

    @overload
    def __getitem__(self, index: slice) -> Texts: ...

    def __getitem__(self, index: int | slice) -> Ids | Texts:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if not self.present[index]:
            return None
        start = int(self.starts[index])
        return self.values[start : start + int(self.lengths[index])]

    @functools.cached_property
    def starts(self) -> np.ndarray:
        """Where each text begins in `values`, shape (n,), int64."""
        return self.lengths.cumsum() - self.lengths

    def or_empty(self) -> Texts:
        """The same with an empty text in place of each that is not there."""
        return Texts(self.values, self.lengths, np.ones(len(self), dtype=bool))

    def take(self, places: np.ndarray) -> Texts:
        """The texts at some places, which may come twice."""
        lengths = self.lengths[places]
        values = self.values[ranges(self.starts[places], lengths)]
        numbers = None if self.numbers is None else self.numbers[places]
        return Texts(values, lengths, self.present[places], numbers)


def text_ids(texts: Texts) -> np.ndarray:
    """A number for each text as the encoder sees it: equal numbers mean equal texts."""
    # Each token and its position become 64 random bits, and a text is the sum of its tokens', modulo 2⁶⁴, so
    # that two texts that differ get one number with a probability of 2⁻⁶³.
    # Shape (n,), int64: 63 bits, or `NO_TEXT` where there is no text.
    if texts.numbers is not None:
        return texts.numbers
    counters = ranges(np.ones(len(texts), np.int64), texts.lengths).astype(np.uint64)
    mixed = splitmix64(texts.values.astype(np.uint64), counters)
    before = np.concatenate([np.zeros(1, np.uint64), mixed.cumsum(dtype=np.uint64)])
    starts = texts.starts
    found = (before[starts + texts.lengths] - before[starts]) >> np.uint64(1)
    return np.where(texts.present, found.astype(np.int64), NO_TEXT)
