"""What a tokeniser gives back: the tokens of a batch of sentences, flattened into arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Tokens:
    """Tokens of a batch of n sentences, flattened: arrays over all N tokens."""

    # (N,) lower-cased terms as NLTK writes them (a double quote is `` or '')
    terms: pa.StringArray | pa.LargeStringArray
    # (n+1,) int64, starting at 0; the tokens of row i are row_offsets[i]:row_offsets[i+1]. A row of nothing
    # but white space has no tokens.
    row_offsets: np.ndarray
    starts: np.ndarray  # (N,) int32, half-open, Unicode code points of the row's original string
    ends: np.ndarray


class Tokenizer(Protocol):
    """A callable from a column of n texts to their tokens."""

    name: str  # both enter the fingerprint of everything computed from the tokens
    version: str

    def __call__(self, texts: pa.Array) -> Tokens:
        """The tokens of each text."""


def tokens_of_rows(rows: Iterable[Sequence[tuple[str, int, int]]]) -> Tokens:
    """Flatten rows of (term, start, end) triples; the short way to write a tokeniser of one's own."""
    flat: list[tuple[str, int, int]] = []
    row_offsets = [0]
    for row in rows:
        flat += row
        row_offsets.append(len(flat))
    terms, starts, ends = zip(*flat, strict=True) if flat else ((), (), ())
    return Tokens(
        terms=pa.array(terms, pa.large_string()),
        row_offsets=np.array(row_offsets, np.int64),
        starts=np.array(starts, np.int32),
        ends=np.array(ends, np.int32),
    )


# Scripts that put no spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese.
_RANGES = ("0E00-0EFF", "0F00-109F", "1780-17FF", "3040-30FF", "3400-9FFF")
_WITHOUT_SPACES = "[" + re.sub(r"(\w{4})", r"\\x{\1}", "".join(_RANGES)) + "]"  # as Arrow writes it
_LETTERS = re.sub(r"(\w{4})", r"\\u\1", "".join(_RANGES))
ALONE = f"[{_LETTERS}]"  # a letter of such a script
WORDS = rf"{ALONE}|[^\W{_LETTERS}]+"  # a word, or such a letter


def share_without_spaces(texts: pa.Array) -> float:
    """Share of the characters of some texts, 0 to 1, that are of a script without spaces between words."""
    characters = pc.sum(pc.utf8_length(texts)).as_py() or 0
    rest = pc.replace_substring_regex(texts, _WITHOUT_SPACES, "")
    return 1 - (pc.sum(pc.utf8_length(rest)).as_py() or 0) / max(characters, 1)
