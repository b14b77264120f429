"""Which terms `same = "pos"` replaces, and by which: by those that go with their neighbours.

A class of terms says what a word can be, not what it is in a sentence. Its neighbours tell more: a term that
was often met beside them has the form and the frame that the place asks for, so the draw is repeated until
one has. Compounds, expressions, quotations and texts with gaps are left alone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.terms.shared.vocabulary import Vocabulary
from augment_cli.augmentations.words.shared.replaceable import may_be_replaced
from augment_cli.augmentations.words.shared.words import Words
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.resources.collocations import END, START, load_collocations
from augment_cli.resources.collocations import tokens as plain_tokens
from augment_cli.text.letter_case import AS_IT_IS
from augment_cli.tfidf.term_table import TermTable

DRAWS = 24  # before a position is left as it is
_LEAST_MET = 8  # times with each neighbour


class Fitting:
    """Neighbours of the tokens of a corpus, by the shipped counts.

    Parameters
    ----------
    terms : TermTable
        The corpus's own.
    vocabulary : Vocabulary
        What is drawn from.
    keys : list of int
        Of the draws after the first.
    """

    def __init__(self, terms: TermTable, vocabulary: Vocabulary, keys: list[int]) -> None:
        self.keys = keys
        self._collocations = load_collocations()
        unknown = self._collocations.number("\0")
        self._unknown = unknown
        self._own = np.append(self._numbers(terms.terms), unknown)
        self._new = self._numbers(vocabulary.table.terms)
        self._start, self._end = (self._collocations.numbers[edge] for edge in (START, END))
        # Names and numbers go by their kind: what stands beside one may beside another.
        self._is_free = np.array([term[:1].isdigit() for term in vocabulary.table.terms.to_pylist()], bool)
        if len(vocabulary.table.cases):
            self._is_free |= vocabulary.table.cases != AS_IT_IS

    def _numbers(self, terms: pa.Array) -> np.ndarray:
        table = self._collocations
        return np.array(
            [table.number("".join(plain_tokens(term)) or term) for term in terms.to_pylist()], np.int64
        )

    def is_replaceable(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """bool (N,): tokens that are words which mean something by themselves."""
        words = Words.of(rows.code_points)
        alone = np.zeros(len(rows.code_points.values) + 1, bool)
        free = np.flatnonzero(may_be_replaced(words, None))
        alone[words.flat_starts[free]] = True
        starts: np.ndarray = rows.code_points.offsets[tokens.rows] + tokens.starts
        return alone[starts]

    def fits(self, tokens: TokenRows, places: np.ndarray, new: np.ndarray) -> np.ndarray:
        """bool (m,): whether terms were often met beside the neighbours of the tokens they stand for."""
        numbers, last = self._own[tokens.term_ids], len(tokens.term_ids) - 1
        row = tokens.rows
        before, behind = np.maximum(places - 1, 0), np.minimum(places + 1, last)
        left = np.where((places > 0) & (row[before] == row[places]), numbers[before], self._start)
        right = np.where((behind > places) & (row[behind] == row[places]), numbers[behind], self._end)
        come = self._new[np.maximum(new, 0)]
        met = np.minimum(self._collocations.together(left, come), self._collocations.together(come, right))
        fits: np.ndarray = (new >= 0) & (
            ((met >= _LEAST_MET) & (come != self._unknown)) | self._is_free[np.maximum(new, 0)]
        )
        return fits
