"""Signals that texts alone give: length, edits, words that repeat or are unknown. And a judge's verdicts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.tfidf.term_table import TermTable
from augment_cli.tokenization.tokens import Tokenizer

VERDICTS = ("judged_same", "judged_other")
_WORDS = r"[\pL\pM\pN]+(?:['’][\pL\pM\pN]+)*"


def length_ratio(texts: pa.Array, originals: pa.Array) -> np.ndarray:
    """Characters of each text over those of its original, float64 (n,); NaN where there is no text."""
    return _lengths(texts) / np.maximum(_lengths(originals), 1)


def edited_share(texts: pa.Array, originals: pa.Array, edits: pa.ListArray) -> np.ndarray:
    """Characters removed and put in, over the characters of both sentences; float64 (n,), 0 to 1."""
    # NaN where there is no text.
    counts = edits.value_lengths().to_numpy(zero_copy_only=False)
    flat = edits.flatten()
    removed = flat.field("end").to_numpy().astype(np.int64) - flat.field("start").to_numpy()
    new = pc.utf8_length(flat.field("replacement")).to_numpy()
    rows = np.repeat(np.arange(len(counts)), counts)
    changed = np.bincount(rows, weights=removed + new, minlength=len(counts))
    return changed / np.maximum(_lengths(texts) + _lengths(originals), 1)


def repeated_words(texts: pa.Array, originals: pa.Array) -> np.ndarray:
    """Words equal to the one before, beyond those of the original; float64 (n,), NaN without text."""
    repeated = [np.full(len(column), np.nan) for column in (texts, originals)]
    for place, column in enumerate((texts, originals)):
        for row, words in enumerate(_words(column)):
            if words is not None:
                repeated[place][row] = sum(map(str.__eq__, words, words[1:]))
    return np.maximum(repeated[0] - repeated[1], 0)


def unknown_words(texts: pa.Array, originals: pa.Array, terms: TermTable, tokenizer: Tokenizer) -> np.ndarray:
    """Words that the corpus does not hold, beyond the original's; float64 (n,), NaN without text."""
    unknown = np.zeros((2, len(texts)))
    for place, column in enumerate((texts, originals)):
        tokens = tokenizer(pc.fill_null(column, ""))
        words = tokens.terms.dictionary_encode()
        is_word = pc.match_substring_regex(words.dictionary, r"\pL").to_numpy(zero_copy_only=False)
        counted = (is_word & (terms.ids_of(words.dictionary) < 0))[words.indices.to_numpy()]
        rows = np.repeat(np.arange(len(column)), np.diff(tokens.row_offsets))
        unknown[place] = np.bincount(rows, weights=counted, minlength=len(column))
    beyond = np.maximum(unknown[0] - unknown[1], 0)
    return np.where(texts.is_valid().to_numpy(zero_copy_only=False), beyond, np.nan)


def verdicts(labels: pa.Array) -> dict[str, np.ndarray]:
    """Whether a judge called each text the same, and another one: 1 or 0, NaN where it gave no verdict."""
    is_there = labels.is_valid().to_numpy(zero_copy_only=False)
    found = {}
    for name in VERDICTS:
        is_so = pc.fill_null(pc.equal(labels, name.removeprefix("judged_")), False)
        found[name] = np.where(is_there, is_so.to_numpy(zero_copy_only=False), np.nan)
    return found


def _words(texts: pa.Array) -> list[list[str] | None]:
    import regex

    find = regex.compile(_WORDS).findall
    return [None if text is None else find(text) for text in pc.utf8_lower(texts).to_pylist()]


def _lengths(texts: pa.Array) -> np.ndarray:
    return pc.utf8_length(texts).cast(pa.float64()).to_numpy(zero_copy_only=False)
