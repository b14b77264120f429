"""What goes into an augmentation and what comes out: rows of the corpus, and an outcome for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints, Edits


@dataclass(frozen=True)
class TokenRows:
    """The TF-IDF matrix of n rows, flattened over their N token occurrences.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n+1,)
        Tokens of row i are offsets[i]:offsets[i+1].
    term_ids : ndarray of int32, shape (N,)
        Rows of the term table; −1 where the term is not in it.
    starts, ends : ndarray of int32, shape (N,)
        Span in the original text, code points, half-open.
    weights : ndarray of float64, shape (N,)
        tf·idf of the occurrence's term in its sentence; 0 where the term is not in the table.
    """

    offsets: np.ndarray
    term_ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    weights: np.ndarray

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (N,): the sentence of each token, 0 … n−1."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class Rows:
    """Some rows of the corpus with what the augmentation needs of them.

    Attributes
    ----------
    row_ids : ndarray of int64, shape (n,)
        They decide the draws.
    texts : pyarrow.StringArray, length n
    code_points : CodePoints
        The same texts, flattened.
    tokens : TokenRows or None
        Where the augmentation needs `tfidf`.
    parses : ParseRows or None
        Where it needs `parses`, or reads them as there are some.
    """

    row_ids: np.ndarray
    texts: pa.StringArray
    code_points: CodePoints
    tokens: TokenRows | None = None
    parses: ParseRows | None = None

    def __len__(self) -> int:
        return len(self.row_ids)


@dataclass(frozen=True)
class Outcome:
    """What became of n rows.

    Attributes
    ----------
    edits : Edits
        Replacements on the original texts. A row without any is unchanged.
    reasons : ndarray of object, shape (n,)
        Why a row without edits is unchanged; ignored where there are edits.
    columns : mapping of str to pyarrow.Array
        The augmentation's own columns, as its descriptor declares them.
    """

    edits: Edits
    reasons: np.ndarray
    columns: Mapping[str, pa.Array] = field(default_factory=dict)


Draw = Callable[[int], np.ndarray]  # counter to (n,) uniforms


@dataclass
class Answer:
    """What becomes of each of n rows: the rule that fired or None, and the reason where none did."""

    rules: np.ndarray
    reasons: np.ndarray

    @classmethod
    def empty(cls, count: int) -> Answer:
        """No rule fired yet."""
        return cls(np.full(count, None, object), np.full(count, Reason.NO_RULE_APPLIES, object))


def pick(uniforms: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Uniforms in [0, 1) as choices 0 … count−1."""
    return np.minimum((uniforms * count).astype(np.int64), count - 1)
