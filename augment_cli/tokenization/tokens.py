"""What a tokeniser gives back, and the tokenisers that go through texts one by one: NLTK, characters."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
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


@cache
def _nltk_tokenize() -> Callable[[str], list[str]]:
    # Imported late: NLTK takes one to three seconds and 100 MB to load.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize


def _quote_length(text: str, position: int) -> int:
    """Length of the double quote at `position`, whichever way it is written; 0 where there is none."""
    if text[position] == '"':
        return 1
    return 2 if text.startswith(("''", "``"), position) else 0


def exact_tokens(text: str) -> list[tuple[str, int, int]]:
    """Terms of `nltk.word_tokenize(text.lower(), preserve_line=True)` with offsets into `text`."""
    # NLTK removes white space, rewrites double quotes and leaves everything else in order, so a walk along
    # the lower-cased text finds every token. Where lower-casing adds code points (U+0130 becomes two), the
    # offsets are those of the original character.
    lowered = text.lower()
    origins: Sequence[int] = range(len(text))
    if len(lowered) != len(text):
        origins = [index for index, character in enumerate(text) for _ in character.lower()]
    tokens = []
    position = 0
    for term in _nltk_tokenize()(lowered):
        while lowered[position].isspace():
            position += 1
        length = len(term)
        if not lowered.startswith(term, position):
            length = _quote_length(lowered, position) if term in ("``", "''") else 0
            if not length:
                raise ValueError(
                    f"NLTK's token {term!r} is not at position {position} of {lowered[:200]!r}; "
                    "this version of NLTK changes text in a way its offsets cannot be told from"
                )
        tokens.append((term, origins[position], origins[position + length - 1] + 1))
        position += length
    return tokens


class CharacterTokenizer:
    """Words, and the single letters of scripts without spaces between words: terms of any language."""

    name, version = "characters", "1"

    def __call__(self, texts: pa.Array) -> Tokens:
        """Tokenise a string column without nulls."""
        words = re.compile(WORDS)
        return tokens_of_rows(
            [(found[0].lower(), found.start(), found.end()) for found in words.finditer(text)]
            for text in texts.to_pylist()
        )


class NltkTokenizer:
    """The reference: NLTK itself, some 10,000 sentences a second."""

    name = "nltk"

    def __init__(self) -> None:
        self.version = metadata.version("nltk")

    def __call__(self, texts: pa.Array) -> Tokens:
        """Tokenise a string column without nulls."""
        return tokens_of_rows(exact_tokens(text) for text in texts.to_pylist())
