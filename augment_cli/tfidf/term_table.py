"""The fitted term table in memory, with prefix sums to draw from any window of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.store.parquet import read_parquet
from augment_cli.store.store import Store
from augment_cli.text.letter_case import capitalised


@dataclass(frozen=True)
class TermTable:
    """Terms by falling maximum score; a term's id is its rank.

    Attributes
    ----------
    terms : pyarrow.StringArray, length V
    idf, max_score : ndarray of float64, shape (V,)
    """

    terms: pa.StringArray
    idf: np.ndarray
    max_score: np.ndarray

    @classmethod
    def read(cls, store: Store, stage: str) -> TermTable:
        """Read a fit's term table from a store.

        The last one read is kept, since a worker reads the same table for each of its parts; its
        content is in the key, so that a table fitted anew is never mistaken for it.
        """
        return _read_terms(store.verified_path(stage, 0), store.stage(stage).digest)

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def prefix_sums(self) -> np.ndarray:
        """float64 (V+1,): sum of the maximum scores of all terms before each rank."""
        sums = np.zeros(len(self) + 1)
        np.cumsum(self.max_score, out=sums[1:])
        return sums

    def ids_of(self, terms: pa.Array) -> np.ndarray:
        """int32 ids of terms; −1 for those not in the table."""
        return pc.fill_null(pc.index_in(terms.cast(pa.string()), self.terms), -1).to_numpy().astype(np.int32)

    def draw_ids(
        self, ids: np.ndarray, radius: int, uniforms: np.ndarray, include_self: bool = False
    ) -> np.ndarray:
        """Draw for each rank i one of the ranks i−radius … i+radius, with probability ∝ maximum score.

        The window is cut at the table's ends. Where all its scores are zero, every rank in it is
        equally likely. One binary search each, in memory O(V) for all.

        Parameters
        ----------
        ids : ndarray of int, shape (m,)
            Ranks, 0 … V−1.
        radius : int
            At least 0.
        uniforms : ndarray of float64, shape (m,)
            In [0, 1).
        include_self : bool
            Whether rank i itself may be drawn, as in the authors' code.

        Returns
        -------
        ndarray of int32, shape (m,)
            Ranks; −1 where the window holds no term (radius 0, or a table of one term).
        """
        ids = ids.astype(np.int64)
        low = np.maximum(ids - radius, 0)
        high = np.minimum(ids + radius, len(self) - 1) + 1
        sums = self.prefix_sums
        own = np.zeros(len(ids)) if include_self else self.max_score[ids]
        # Weight before i, then weight behind i: skipping i's own weight skips i.
        before = sums[ids] - sums[low]
        weight = sums[high] - sums[low] - own
        target = uniforms * weight
        if not include_self:
            target += np.where(target >= before, own, 0.0)
        target += sums[low]
        # Searching in order walks the table once, instead of missing the cache at every step.
        order = np.argsort(target)
        drawn = np.empty(len(ids), np.int64)
        drawn[order] = np.searchsorted(sums, target[order], side="right") - 1

        # All-zero windows: uniform over the ranks.
        choices = high - low - (0 if include_self else 1)
        flat = weight <= 0
        if flat.any():
            step = np.minimum((uniforms * choices).astype(np.int64), np.maximum(choices - 1, 0))
            uniform_draw = low + step
            if not include_self:
                uniform_draw += uniform_draw >= ids
            drawn = np.where(flat, uniform_draw, drawn)
        drawn = np.clip(drawn, low, high - 1)
        if not include_self:
            # Rounding at the very edge of an interval can still land on i: take its neighbour.
            drawn = np.where(drawn == ids, np.where(ids + 1 < high, ids + 1, ids - 1), drawn)
        return np.where(choices > 0, drawn, -1).astype(np.int32)

    def draw_any(self, ids: np.ndarray, uniforms: np.ndarray, include_self: bool = False) -> np.ndarray:
        """Draw for each rank any rank of the table with equal probability (the random-term ablation)."""
        choices = len(self) - (0 if include_self else 1)
        if choices <= 0:
            return np.full(len(ids), -1, np.int32)
        drawn = np.minimum((uniforms * choices).astype(np.int64), choices - 1)
        if not include_self:
            drawn += drawn >= ids
        return drawn.astype(np.int32)

    @cached_property
    def surface_forms(self) -> pa.StringArray:
        """3V strings: all terms as they stand, then capitalised, then in capitals, as `case_pattern` counts.

        NLTK's `` and '' stand for a double quotation mark, and become one again.
        """
        plain = pc.replace_substring_regex(self.terms, "^(``|'')$", '"')
        return pa.concat_arrays([plain, capitalised(plain), pc.utf8_upper(plain)])


@lru_cache(maxsize=1)
def _read_terms(path: Path, digest: str) -> TermTable:
    table = read_parquet(path, ["term", "idf", "max_score"])
    return TermTable(table["term"].combine_chunks(), table["idf"].to_numpy(), table["max_score"].to_numpy())
