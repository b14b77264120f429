"""The natural surface: words replaced in place by words, and everything between them left alone.

Punctuation, brackets and halves of contractions stay, with a straight apostrophe or a curly one. Terms are
written as they mostly are inside sentences: `putin` becomes `Putin` wherever it is put.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.una.fitting import DRAWS, Fitting
from augment_cli.augmentations.una.term_replacement import (
    LONGEST_TERM,
    TermReplacement,
    TermReplacementParameters,
    joins_background,
    radius_in_ranks,
)
from augment_cli.augmentations.una.vocabulary import vocabulary_of
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.avoiding import avoided_words
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.text.letter_case import AS_IT_IS, CAPITALISED, LOWER, UPPER, case_pattern, character_classes
from augment_cli.text.spans import CodePoints, Edits, ranges
from augment_cli.text.surface import equals_original, spaced
from augment_cli.tfidf.term_table import TermTable

_SMALL_LETTERS = 3  # the fourth of `Vocabulary.surface_forms`
# What an apostrophe parts from a word; behind a straight one the tokeniser has them as one token each.
_BEHIND_APOSTROPHE = pa.array(["s", "t", "m", "d", "re", "ve", "ll"])


class NaturalReplacement(TermReplacement):
    """The surface `natural`."""

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        super().__init__(name, parameters, resources, opposite)
        self._joined = joins_background(parameters, self.terms)
        avoided = avoided_words(parameters.avoid)
        vocabulary = vocabulary_of(
            self.terms, self._joined, tuple(avoided.to_pylist()), LONGEST_TERM, parameters.same
        )
        self._vocabulary = vocabulary
        self._radius = radius_in_ranks(parameters.radius, vocabulary.table)
        self._protected = self.kept()
        self._eligible = vocabulary.replaceable[vocabulary.own] & ~self._protected
        self._is_word = vocabulary.is_word[vocabulary.own]
        self._is_word[-1] = True  # terms that the table does not have mostly are
        self._fitting = None
        if parameters.same == "pos":
            keys = [resources.key(f"{name}/term/{number}") for number in range(1, DRAWS)]
            self._fitting = Fitting(self.terms, vocabulary, keys)
        self._not, self._apostrophe, self._is_behind_apostrophe = _contractions(self.terms)

    def weighed(self, tokens: TokenRows, eligible: np.ndarray) -> TokenRows:
        """With the shipped terms, weights by the counts of both; 0 for terms that are nowhere eligible."""
        if not self._joined:
            return tokens
        size, ids = len(self.terms) + 1, tokens.term_ids
        is_asked = np.zeros(size, bool)
        is_asked[ids[eligible]] = True
        asked = np.flatnonzero(is_asked[ids])
        rows, ids = tokens.rows[asked], ids[asked]
        _, inverse, counts = np.unique(rows * size + ids, return_inverse=True, return_counts=True)
        idf = np.append(self._vocabulary.table.idf[self._vocabulary.own[:-1]], 0.0)
        weights = np.zeros(len(tokens.weights))
        weights[asked] = np.log1p(counts[inverse] / np.diff(tokens.offsets)[rows]) * idf[ids]
        return dataclasses.replace(tokens, weights=weights)

    def eligible(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """Words; not the halves of contractions."""
        ids = tokens.term_ids
        eligible: np.ndarray = self._eligible[ids]
        glued = np.append(False, tokens.starts[1:] == tokens.ends[:-1])
        glued[tokens.offsets[:-1][np.diff(tokens.offsets) > 0]] = False
        if self._not >= 0:  # is + n't: the verb stays with its negation
            behind = np.flatnonzero((ids == self._not) & glued)
            eligible[behind - 1] = False
        if self._apostrophe >= 0:
            marks = np.flatnonzero((ids == self._apostrophe) & glued)
            marks = marks[marks + 1 < len(ids)]
            marks = marks[glued[marks + 1] & self._is_behind_apostrophe[ids[marks + 1]]]
            eligible[marks + 1] = False
            is_t = tokens.ends[marks + 1] - tokens.starts[marks + 1] == 1
            is_t &= rows.code_points.values[
                rows.code_points.offsets[tokens.rows[marks + 1]] + tokens.starts[marks + 1]
            ] == ord("t")
            eligible[marks[is_t] - 1] = False  # don + ’ + t
        if self._fitting is not None:
            eligible &= ~self._uncapitalised_names(rows, tokens, eligible)
            eligible &= self._fitting.is_replaceable(rows, tokens)
        return eligible

    def drawn_terms(self, rows: Rows, tokens: TokenRows, drawn: np.ndarray) -> np.ndarray:
        """With `same = "pos"` the first of several draws that goes with its neighbours."""
        new = super().drawn_terms(rows, tokens, drawn)
        if self._fitting is None:
            return new
        fits = self._fitting.fits(tokens, drawn, new)
        for key in self._fitting.keys:
            rest = np.flatnonzero(~fits)
            if not len(rest):
                break
            again = drawn[rest]
            new[rest] = self.draw(tokens.term_ids[again], self._uniforms(key, rows, tokens, again))
            fits[rest] = self._fitting.fits(tokens, again, new[rest])
        return np.where(fits, new, -1)

    def _uncapitalised_names(self, rows: Rows, tokens: TokenRows, eligible: np.ndarray) -> np.ndarray:
        """bool (N,): words that are names for the most part, but not here, such as `big`."""
        texts, result = rows.code_points, np.zeros(len(tokens.term_ids), bool)
        places = np.flatnonzero(eligible & self._vocabulary.is_name[self._vocabulary.own[tokens.term_ids]])
        if not len(places):
            return result
        owners = tokens.rows[places]
        first = texts.values[texts.offsets[owners] + tokens.starts[places]]
        is_small = character_classes()[first] & LOWER > 0
        places, owners = places[is_small], owners[is_small]
        if len(places):
            some, number = np.unique(owners, return_inverse=True)
            result[places] = ~_without_capitals(texts, some)[number]
        return result

    def draw(self, ids: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Words of the window, or with `terms = "random"` of the whole class."""
        radius = None if self.parameters.terms == "random" else self._radius
        own = self._vocabulary.own[ids]
        return self._vocabulary.draw(own, radius, uniforms, self.parameters.include_self)

    def edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit for each replaced word."""
        texts, owners = rows.code_points, tokens.rows[chosen]
        base = texts.offsets[owners]
        starts, ends = base + tokens.starts[chosen], base + tokens.ends[chosen]
        form = self._forms(texts, tokens, chosen, starts, ends)
        places = new_ids + len(self._vocabulary.table) * form
        replacements = self._vocabulary.surface_forms.take(pa.array(places))
        same = equals_original(texts, owners, starts, ends, replacements)
        if same.any():  # the same word in the same case: no edit
            differs = np.flatnonzero(~same)
            chosen, owners, starts, ends = chosen[differs], owners[differs], starts[differs], ends[differs]
            base = base[differs]
            replacements = replacements.take(pa.array(differs))
        replacements = spaced(texts, owners, starts, ends, replacements)
        edits = Edits(owners, (starts - base).astype(np.int32), (ends - base).astype(np.int32), replacements)
        return edits, chosen

    def _forms(
        self, texts: CodePoints, tokens: TokenRows, chosen: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> np.ndarray:
        """int64 (m,): which of `surface_forms` stands in the place of each chosen token."""
        # A capital that the place asks for, at the beginning or in a title, is kept; one that belongs to
        # the name that stood there goes with it.
        pattern = case_pattern(texts, starts, ends)
        ordinary = self._vocabulary.table.cases[self._vocabulary.own[tokens.term_ids[chosen]]] == AS_IT_IS
        first = self._begins(tokens, chosen)
        form = np.where(ordinary | (first & (pattern == CAPITALISED)), pattern, AS_IT_IS)
        # A text without capitals, as chats and queries are, gets none.
        owners = tokens.rows[chosen]
        rows = owners[np.append(True, owners[1:] != owners[:-1])[: len(owners)]]
        small = rows[_without_capitals(texts, rows)]
        if len(small):
            form = np.where(np.isin(owners, small), _SMALL_LETTERS, form)
        return form.astype(np.int64)

    def _begins(self, tokens: TokenRows, chosen: np.ndarray) -> np.ndarray:
        """bool (m,): tokens with no word before them in their row but for up to two marks."""
        counter = chosen - tokens.offsets[tokens.rows[chosen]]
        is_word = self._is_word[tokens.term_ids]
        first: np.ndarray = counter == 0
        for before in (1, 2):
            marks = np.ones(len(chosen), bool)
            for step in range(1, before + 1):
                marks &= ~is_word[np.maximum(chosen - step, 0)]
            first |= (counter == before) & marks
        return first


@lru_cache(maxsize=2)
def _contractions(terms: TermTable) -> tuple[int, int, np.ndarray]:
    """Ids of n't and ’, −1 for none, and bool (V+1,): terms that an apostrophe parts from a word."""
    # Kept, since finding terms in a large table takes long, and a worker asks with each part.
    ids = terms.ids_of(pa.concat_arrays([pa.array(["n't", "’"]), _BEHIND_APOSTROPHE]))
    is_behind = np.zeros(len(terms) + 1, bool)
    is_behind[ids[2:]] = True
    is_behind[-1] = False
    return int(ids[0]), int(ids[1]), is_behind


def _without_capitals(texts: CodePoints, rows: np.ndarray) -> np.ndarray:
    """bool (m,): which of some rows have no capital letter."""
    flags, starts = character_classes(), texts.offsets[rows]
    lengths = texts.offsets[rows + 1] - starts
    result = flags[texts.values[starts]] & UPPER == 0  # most sentences begin with one
    rest = np.flatnonzero(result)
    if len(rest):
        inside = flags[texts.values[ranges(starts[rest], lengths[rest])]] & UPPER
        first = np.cumsum(lengths[rest]) - lengths[rest]
        result[rest] = np.bitwise_or.reduceat(inside, first) == 0
    return result
