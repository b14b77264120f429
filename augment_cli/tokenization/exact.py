"""NLTK's own tokeniser, one sentence at a time, with offsets into the original string."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata

import pyarrow as pa

from augment_cli.tokenization.tokens import WORDS, Tokens, tokens_of_rows


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
