"""Collect edits of several kinds for some texts, then hand them over sorted."""

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
        self._rows: list[np.ndarray] = []
        self._starts: list[np.ndarray] = []
        self._ends: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
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
        if not self._rows:
            nothing = np.zeros(0, np.int32)
            return Edits(nothing.astype(np.int64), nothing, nothing, pa.array([], pa.string()))
        rows, starts = np.concatenate(self._rows), np.concatenate(self._starts)
        ends, codes = np.concatenate(self._ends), np.concatenate(self._codes)
        order = np.lexsort((ends, starts, rows))
        replacements = pa.array(self._pool, pa.string()).take(pa.array(codes[order]))
        return Edits(rows[order], starts[order], ends[order], replacements)
