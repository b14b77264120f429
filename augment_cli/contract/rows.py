"""What goes into an augmentation and what comes out: rows of the corpus, and an outcome for each."""

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
    """The TF-IDF matrix of n rows, flattened over their N token occurrences."""

    offsets: np.ndarray  # int64 (n+1,): tokens of row i are offsets[i]:offsets[i+1]
    term_ids: np.ndarray  # int32 (N,): rows of the term table; −1 where the term is not in it
    starts: np.ndarray  # int32 (N,): span in the original text, code points, half-open
    ends: np.ndarray
    weights: np.ndarray  # float64 (N,): tf·idf of the term in its sentence; 0 where it is not in the table

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (N,): the sentence of each token, 0 … n−1."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class Rows:
    """Some rows of the corpus with what the augmentation needs of them."""

    row_ids: np.ndarray  # int64 (n,): they decide the draws
    texts: pa.StringArray  # (n,)
    code_points: CodePoints  # the same texts, flattened
    tokens: TokenRows | None = None  # where the augmentation needs `tfidf`
    parses: ParseRows | None = None  # where it needs `parses`, or reads them as there are some

    def __len__(self) -> int:
        return len(self.row_ids)


@dataclass(frozen=True)
class Outcome:
    """What became of n rows."""

    edits: Edits  # replacements on the original texts; a row without any is unchanged
    reasons: np.ndarray  # object (n,): why a row without edits is unchanged; ignored where there are some
    columns: Mapping[str, pa.Array] = field(default_factory=dict)  # its own, as its descriptor declares them


Draw = Callable[[int], np.ndarray]  # counter to (n,) uniforms


@dataclass
class Answer:
    """What becomes of each of n rows: the rule that fired or None, and the reason where none did."""

    rules: np.ndarray
    reasons: np.ndarray

    @classmethod
    def empty(cls, count: int) -> "Answer":
        """No rule fired yet."""
        return cls(np.full(count, None, object), np.full(count, Reason.NO_RULE_APPLIES, object))


def pick(uniforms: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Uniforms in [0, 1) as choices 0 … count−1."""
    return np.minimum((uniforms * count).astype(np.int64), count - 1)
