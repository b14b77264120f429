"""Which terms `same = "pos"` replaces, and by which: by those that go with their neighbours.

A class of terms says what a word can be, not what it is in a sentence. Its neighbours tell more: a term that
was often met beside them has the form and the frame that the place asks for, so the draw is repeated until
one has. Compounds, expressions, quotations and texts with gaps are left alone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.entities import EntityContext
from augment_cli.augmentations.una.vocabulary import Vocabulary
from augment_cli.augmentations.una.word_classes import NO_ENTITY, kinds_of_terms
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.english.words.replaceable import may_be_replaced
from augment_cli.english.words.words import Words
from augment_cli.resources.collocations import END, START, load_collocations
from augment_cli.resources.collocations import tokens as plain_tokens
from augment_cli.text.surface import CAPITALS, UPPER, case_pattern, character_classes
from augment_cli.tfidf.term_table import TermTable

DRAWS = 24  # before a position is left as it is
_LEAST_MET = 3  # times with each neighbour
_LEAST_FIT = -1.6  # a fifth as often beside each neighbour as the replaced word's counts would have it
_VOWEL_SOUND = (
    r"^(?:a|e(?:[^uw]|u?$)|i|o(?:[^n]|n(?:[^ce]|e[^-s]))|u(?:[^nstrbgk]|n(?:[^i]|i[mnd])|[strb][^aeiou])|"
    r"hour|heir|honest|honou?r)"
)


class Fitting:
    """Neighbours of the tokens of a corpus, by the shipped counts."""

    def __init__(self, terms: TermTable, vocabulary: Vocabulary, keys: list[int]) -> None:
        self.keys = keys
        self._collocations = load_collocations()
        unknown = self._collocations.number("\0")
        self._unknown = unknown
        self._own = np.append(self._numbers(terms.terms), unknown)
        self._new = self._numbers(vocabulary.table.terms)
        self._article = self._collocations.number("a")
        self._context = EntityContext(terms, vocabulary)
        kinds = kinds_of_terms(vocabulary.table)
        self._ids = vocabulary.own
        self._kinds = np.append(kinds, NO_ENTITY)[vocabulary.own]
        vowel = pc.match_substring_regex(vocabulary.table.terms, _VOWEL_SOUND)
        self._has_vowel = np.append(vowel.to_numpy(zero_copy_only=False), False)
        self._start, self._end = (self._collocations.numbers[edge] for edge in (START, END))
        # Names and numbers go by their kind: what stands beside one may beside another.
        self._is_free = kinds != NO_ENTITY

    def _numbers(self, terms: pa.Array) -> np.ndarray:
        table = self._collocations
        return np.array(
            [table.number("".join(plain_tokens(term)) or term) for term in terms.to_pylist()], np.int64
        )

    def is_replaceable(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """bool (N,): words that mean something by themselves, names and numbers that are no part of more."""
        words = Words.of(rows.code_points)
        alone = np.zeros(len(rows.code_points.values) + 1, bool)
        free = np.flatnonzero(may_be_replaced(words, None))
        alone[words.flat_starts[free]] = True
        starts: np.ndarray = rows.code_points.offsets[tokens.rows] + tokens.starts
        if not len(starts):
            return alone[starts]
        has_capital = character_classes()[rows.code_points.values[starts]] & UPPER > 0
        kinds = self._kinds[tokens.term_ids]
        of_itself = self._context.stands_alone(rows.code_points, tokens, kinds, has_capital)
        first = np.arange(len(starts)) == tokens.offsets[tokens.rows]
        # "the CAT" is an examination
        ends = rows.code_points.offsets[tokens.rows] + tokens.ends
        alone_there = alone[starts] & ~(
            (kinds == NO_ENTITY) & (case_pattern(rows.code_points, starts, ends) == CAPITALS)
        )
        return alone_there & (of_itself | ((kinds == NO_ENTITY) & (~has_capital | first)))

    def fits(self, tokens: TokenRows, places: np.ndarray, new: np.ndarray) -> np.ndarray:
        """bool (m,): whether terms go with the neighbours of the tokens they stand for, as these do."""
        # None of them stands in the row already, nor behind `an` where it asks for `a`.
        numbers, last = self._own[tokens.term_ids], len(tokens.term_ids) - 1
        row, drawn = tokens.rows, np.maximum(new, 0)
        before, behind = np.maximum(places - 1, 0), np.minimum(places + 1, last)
        is_before = (places > 0) & (row[before] == row[places])
        left = np.where(is_before, numbers[before], self._start)
        right = np.where((behind > places) & (row[behind] == row[places]), numbers[behind], self._end)
        come, table = self._new[drawn], self._collocations
        met = np.minimum(table.together(left, come), table.together(come, right))
        likely = table.fit(numbers[places], come, left, right) >= _LEAST_FIT
        fits = ((met >= _LEAST_MET) & likely & (come != self._unknown)) | self._is_free[drawn]
        article = is_before & (left == self._article)
        own = self._ids[tokens.term_ids]
        fits &= ~article | (self._has_vowel[drawn] == self._has_vowel[own[places]])
        size = len(self._new) + 1
        present = np.append(np.unique(row * size + own), -1)
        wanted = row[places] * size + drawn
        is_there: np.ndarray = present[np.searchsorted(present[:-1], wanted)] == wanted
        return fits & (new >= 0) & ~is_there
