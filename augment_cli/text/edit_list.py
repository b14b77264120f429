"""Edits of texts: collected in any order and handed over sorted, or told from a whole new text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from augment_cli.text.spans import Edits


class EditList:
    """Insertions and replacements in some texts, in any order.

    Edits that start at the same place stand in the order in which they were added, insertions first.
    """

    def __init__(self) -> None:
        nothing = np.zeros(0, np.int32)
        self._rows, self._codes = [nothing.astype(np.int64)], [nothing.astype(np.int64)]
        self._starts, self._ends = [nothing], [nothing]
        self._pool: list[str] = []

    def replace(
        self, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, pool: Sequence[str], codes: np.ndarray
    ) -> None:
        """Put pool[codes] in place of starts:ends (code points of the row's text); all arrays (m,)."""
        self._rows.append(np.asarray(rows, np.int64))
        self._starts.append(np.asarray(starts, np.int32))
        self._ends.append(np.asarray(ends, np.int32))
        self._codes.append(np.asarray(codes, np.int64) + len(self._pool))
        self._pool += pool

    def insert(self, rows: np.ndarray, positions: np.ndarray, text: str) -> None:
        """Put one text in at some positions."""
        self.replace(rows, positions, positions, [text], np.zeros(len(rows), np.int64))

    def edits(self) -> Edits:
        """All of them, sorted by row and place."""
        rows, starts = np.concatenate(self._rows), np.concatenate(self._starts)
        ends, codes = np.concatenate(self._ends), np.concatenate(self._codes)
        order = np.lexsort((ends, starts, rows))
        replacements = pa.array(self._pool, pa.string()).take(pa.array(codes[order]))
        return Edits(rows[order], starts[order], ends[order], replacements)


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
