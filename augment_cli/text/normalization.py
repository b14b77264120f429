"""Texts as words alone: what two sentences have in common that differ in case, punctuation and spaces."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def normalize(texts: pa.Array) -> pa.Array:
    """Lower-cased words with one space between them; a text without words stays as it is."""
    words = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\pL\pM\pN]+", " ")
    words = pc.utf8_trim_whitespace(words)
    return pc.if_else(pc.equal(words, ""), texts, words)
