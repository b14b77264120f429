"""The fitted term table in memory, with prefix sums to draw from any window of it; a fit's folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.store.parquet import read_parquet
from augment_cli.store.store import Store
from augment_cli.text.surface import capitalised

TFIDF_STAGE = "tfidf"
TERMS_STAGE = "terms"
FORMS_STAGE = "forms"


@dataclass(frozen=True, eq=False)
class TermTable:
    """Terms by falling maximum score; a term's id is its rank."""

    terms: pa.StringArray
    idf: np.ndarray
    max_score: np.ndarray
    # how each term is mostly written inside sentences (`forms.py`); empty where that was not counted
    cases: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    # the spelling of each term whose case is `forms.MIXED`
    mixed: Mapping[int, str] = field(default_factory=dict)
    document_frequency: np.ndarray | None = None  # how many sentences have each term

    @classmethod
    def read(cls, store: Store, stage: str, forms: str | None = None) -> TermTable:
        """Read a fit's term table from a store, with the spellings of the stage `forms` where it is given."""
        # The last one read is kept, since a worker reads the same table for each of its parts; its content
        # is in the key, so that a table fitted anew is never mistaken for it.
        content = [
            (store.verified_path(name, 0), store.stage(name).digest) for name in (stage, forms) if name
        ]
        return _read_terms(*content)

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def prefix_sums(self) -> np.ndarray:
        """float64 (V+1,): sum of the maximum scores of all terms before each rank."""
        return np.append(0.0, np.cumsum(self.max_score))

    @property
    def documents(self) -> int:
        """How many sentences the table was fitted on: N = N_t·exp(idf)."""
        if self.document_frequency is None or not len(self):
            return 0
        return round(float(self.document_frequency[0] * np.exp(self.idf[0])))

    @cached_property
    def shares(self) -> np.ndarray:
        """float64 (V,): the largest share of a sentence that each term makes up; 0 where the idf is 0."""
        known = self.idf > 0
        return np.expm1(np.divide(self.max_score, self.idf, out=np.zeros(len(self)), where=known))

    def ids_of(self, terms: pa.Array) -> np.ndarray:
        """int32 ids of terms; −1 for those not in the table."""
        return pc.fill_null(pc.index_in(terms.cast(pa.string()), self.terms), -1).to_numpy().astype(np.int32)

    def draw_ids(
        self, ids: np.ndarray, radius: int, uniforms: np.ndarray, include_self: bool = False
    ) -> np.ndarray:
        """Draw for each rank i one of the ranks i−radius … i+radius, with probability ∝ maximum score."""
        # The window is cut at the table's ends. Where all its scores are zero, every rank in it is equally
        # likely. −1 where it holds no term (radius 0, or a table of one term).
        ids = ids.astype(np.int64)
        low = np.maximum(ids - radius, 0)
        high = np.minimum(ids + radius, len(self) - 1) + 1
        skipped = np.full(len(ids), not include_self)
        return self.draw_between(low, high, ids, skipped, uniforms)

    def draw_between(
        self, low: np.ndarray, high: np.ndarray, ids: np.ndarray, skipped: np.ndarray, uniforms: np.ndarray
    ) -> np.ndarray:
        """Draw for each window low … high−1 one of its ranks, with probability ∝ maximum score."""
        # All (m,). ids: a rank in each window, or its upper bound; skipped: whether that must not be drawn;
        # uniforms: in [0, 1). The result is −1 where a window holds nothing to draw.
        sums = self.prefix_sums
        own = np.zeros(len(ids))
        own[skipped] = self.max_score[ids[skipped]]
        # Weight before i, then weight behind i: skipping i's own weight skips i.
        before = sums[ids] - sums[low]
        weight = sums[high] - sums[low] - own
        target = uniforms * weight
        target += np.where(target >= before, own, 0.0)
        target += sums[low]
        drawn = self._ranks_of(target)

        # All-zero windows: uniform over the ranks.
        choices = high - low - skipped
        flat = weight <= 0
        if flat.any():
            step = np.minimum((uniforms * choices).astype(np.int64), np.maximum(choices - 1, 0))
            uniform_draw = low + step
            uniform_draw += skipped & (uniform_draw >= ids)
            drawn = np.where(flat, uniform_draw, drawn)
        drawn = np.clip(drawn, low, high - 1)
        # Rounding at the very edge of an interval can still land on i: take its neighbour.
        edge = skipped & (drawn == ids)
        drawn = np.where(edge, np.where(ids + 1 < high, ids + 1, ids - 1), drawn)
        return np.where(choices > 0, drawn, -1).astype(np.int32)

    def _ranks_of(self, targets: np.ndarray) -> np.ndarray:
        """int64 (m,): the rank in whose interval of the prefix sums each of some numbers lies."""
        # In rising order: a look-up near the last one finds its numbers in the cache.
        order = np.argsort(targets)
        ranks = np.empty(len(targets), np.int64)
        ranks[order] = np.searchsorted(self.prefix_sums, targets[order], side="right") - 1
        return ranks

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
        """3V strings: terms as they stand, then capitalised, then in capitals, as `case_pattern` counts."""
        # NLTK's `` and '' stand for a double quotation mark, and become one again.
        plain = pc.replace_substring_regex(self.terms, "^(``|'')$", '"')
        return pa.concat_arrays([plain, capitalised(plain), pc.utf8_upper(plain)])


@lru_cache(maxsize=2)  # with the forms and without
def _read_terms(content: tuple[Path, str], forms: tuple[Path, str] | None = None) -> TermTable:
    """From the files of the stages and their digests."""
    table = read_parquet(content[0], ["term", "idf", "max_score", "document_frequency"])
    cases, mixed = np.zeros(0, np.int8), {}
    if forms is not None:
        written = read_parquet(forms[0], ["case", "mixed"])
        cases = written["case"].to_numpy()
        places = np.flatnonzero(written["mixed"].is_valid().to_numpy())
        spellings = written["mixed"].take(pa.array(places)).to_pylist()
        mixed = dict(zip(places.tolist(), spellings, strict=True))
    return TermTable(
        table["term"].combine_chunks(),
        table["idf"].to_numpy(),
        table["max_score"].to_numpy(),
        cases,
        mixed,
        table["document_frequency"].to_numpy(),
    )


def stage_names(fit: str | None) -> tuple[str, str]:
    """Folders of a fit's matrix and term table: `tfidf` and `terms`, or `tfidf-NAME` and `terms-NAME`."""
    return (TFIDF_STAGE, TERMS_STAGE) if not fit else (f"{TFIDF_STAGE}-{fit}", f"{TERMS_STAGE}-{fit}")


def forms_name(fit: str | None) -> str:
    """Folder of a fit's forms: `forms`, or `forms-NAME`."""
    return FORMS_STAGE if not fit else f"{FORMS_STAGE}-{fit}"
