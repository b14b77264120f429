"""A whole new sentence as one edit of the old one: the smallest span of whole words that differs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from augment_cli.text.spans import Edits


def smallest_change(original: str, text: str) -> tuple[int, int, str] | None:
    """(start, end, replacement) that makes `text` of `original`, whole words; None if they are equal."""
    # Offsets are code points of the original, half-open.
    if original == text:
        return None
    start, most = 0, min(len(original), len(text))
    while start < most and original[start] == text[start]:
        start += 1
    tail = 0
    while tail < most - start and original[-1 - tail] == text[-1 - tail]:
        tail += 1
    # Back to where a word begins, on to where one ends, in both texts.
    while start and (_inside_word(original, start) or _inside_word(text, start)):
        start -= 1
    while tail and (_inside_word(original, len(original) - tail) or _inside_word(text, len(text) - tail)):
        tail -= 1
    return start, len(original) - tail, text[start : len(text) - tail]


def _inside_word(text: str, position: int) -> bool:
    return 0 < position < len(text) and text[position - 1].isalnum() and text[position].isalnum()


def edits_of(originals: Sequence[str], texts: Sequence[str | None]) -> Edits:
    """One edit for each row that has a new text."""
    changes = [
        (row, change)
        for row, (original, text) in enumerate(zip(originals, texts, strict=True))
        if text is not None and (change := smallest_change(original, text)) is not None
    ]
    return Edits(
        np.array([row for row, _ in changes], np.int64),
        np.array([change[0] for _, change in changes], np.int32),
        np.array([change[1] for _, change in changes], np.int32),
        pa.array([change[2] for _, change in changes], pa.string()),
    )
