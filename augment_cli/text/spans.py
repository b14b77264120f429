"""Strings as arrays: code points of a column of texts, and edits, noted one by one or applied at once.

Offsets in the store are Unicode code points; Arrow's buffers are UTF-8 bytes. Everything here works
on whole columns with NumPy, so its cost does not depend on how many sentences there are, only on how
many characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from augment_cli.store.parquet import EDIT


def string_buffers(texts: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Byte offsets, int64 (n+1,), and bytes, uint8, of a string column without nulls, starting at 0."""
    array = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if array.null_count:
        raise ValueError("string_buffers needs a column without nulls")
    if len(array) == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    is_large = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    width = np.int64 if is_large else np.int32
    _, offsets_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offsets_buffer, width)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.zeros(0, np.uint8)
    return offsets.astype(np.int64) - offsets[0], data[offsets[0] : offsets[-1]]


def string_array(offsets: np.ndarray, data: np.ndarray) -> pa.StringArray:
    """A string column from byte offsets (n+1,) and UTF-8 bytes; at most 2 GiB of them."""
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))
    )


def ascending_slices(data: np.ndarray, first: np.ndarray, last: np.ndarray) -> pa.StringArray:
    """Substrings of UTF-8 bytes, each in front of what lies between it and the next one; none is copied."""
    # first, last: half-open spans of bytes, ascending; one that overlaps the one before begins at its end
    bounds = np.empty(2 * len(first) + 1, np.int64)
    bounds[:-1:2], bounds[1::2], bounds[-1] = first, last, len(data)
    return string_array(np.maximum.accumulate(bounds), data)


def strings_of(array: pa.StringArray) -> list[str]:
    """The strings of a column without nulls; several times as fast as `to_pylist`."""
    strings: list[str] = array.to_numpy(zero_copy_only=False).tolist()
    return strings


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The integers start, start+1, …, start+length−1 of each pair, one after the other."""
    total = int(lengths.sum())
    if total == 0:
        return np.zeros(0, np.int64)
    ends = np.cumsum(lengths)
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def offsets_from_lengths(lengths: np.ndarray) -> np.ndarray:
    """(n,) lengths to (n+1,) offsets, int64, starting at 0."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


@dataclass(frozen=True)
class CodePoints:
    """A column of n texts as code points and as bytes, with the way from one to the other."""

    byte_offsets: np.ndarray  # where each text's bytes begin in `data`
    data: np.ndarray  # UTF-8 bytes of all texts, one after the other
    protected: np.ndarray | None = None  # bool, which code points no edit may cut into; None where none is

    @classmethod
    def of(cls, texts: pa.Array | pa.ChunkedArray) -> "CodePoints":
        """The code points of a string column without nulls."""
        return cls(*string_buffers(texts))

    @cached_property
    def byte_positions(self) -> np.ndarray:
        """int64, (number of code points + 1,): the byte at which each code point begins, then the end."""
        first = np.flatnonzero((self.data & 0xC0) != 0x80)
        return np.append(first, len(self.data))

    @cached_property
    def _following(self) -> np.ndarray:
        """int64: the bytes that follow the first one of a code point; few where most of a text is ASCII."""
        return np.flatnonzero((self.data & 0xC0) == 0x80)

    @cached_property
    def offsets(self) -> np.ndarray:
        """int64, (n+1,): where each text's code points begin."""
        return self.byte_offsets - np.searchsorted(self._following, self.byte_offsets)

    def bytes_at(self, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The bytes at which some code points begin; `byte_positions` for a few of them."""
        # rows: texts that they are in, or at the end of; points: code points of all texts, flattened
        extra = self.byte_offsets - self.offsets
        positions: np.ndarray = points + extra[rows]
        inside = np.flatnonzero((np.diff(extra) > 0)[rows])  # texts with characters of several bytes
        if len(inside):
            before = self._following - np.arange(len(self._following))
            positions[inside] = points[inside] + np.searchsorted(before, points[inside], side="right")
        return positions

    @cached_property
    def values(self) -> np.ndarray:
        """uint32, (number of code points,): the code points themselves."""
        return np.frombuffer(self.data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32)


@dataclass(frozen=True)
class Edits:
    """Replacements in n texts, sorted by row, then start; no two of a row overlap."""

    rows: np.ndarray  # row of each edit, 0 … n−1
    # the replaced span of the original, code points, half-open. An empty span is an insertion.
    starts: np.ndarray
    ends: np.ndarray
    replacements: pa.StringArray  # what stands there instead

    def as_column(self, rows: int) -> pa.ListArray:
        """The store's `edits` column for a number of texts."""
        counts = np.bincount(self.rows, minlength=rows)
        values = pa.StructArray.from_arrays(
            [pa.array(self.starts, pa.int32()), pa.array(self.ends, pa.int32()), self.replacements],
            fields=list(EDIT),
        )
        return pa.ListArray.from_arrays(pa.array(offsets_from_lengths(counts), pa.int32()), values)


def apply_edits(texts: CodePoints, edits: Edits) -> pa.StringArray:
    """The texts with every edit applied; what lies outside the spans is copied byte for byte."""
    base = texts.offsets[edits.rows]
    starts, ends = base + edits.starts, base + edits.ends
    beyond = (edits.starts < 0) | (starts > ends) | (ends > texts.offsets[edits.rows + 1])
    if beyond.any():
        first = int(beyond.argmax())
        row = int(edits.rows[first])
        raise ValueError(
            f"edit {edits.starts[first]}:{edits.ends[first]} of row {row} is not a span of its text of "
            f"{texts.offsets[row + 1] - texts.offsets[row]} characters; starts and ends count from the "
            "beginning of the row's own text, not across all rows"
        )
    if (starts[1:] < ends[:-1]).any() or (np.diff(edits.rows) < 0).any():
        raise ValueError("edits must be sorted, and must not overlap")
    kept_from = texts.bytes_at(edits.rows, starts)
    kept_to = texts.bytes_at(edits.rows, ends)
    new_lengths = np.diff(string_buffers(edits.replacements)[0])

    # The text in pieces: kept, replaced, kept, replaced, …, kept; a replacement in place of each second one.
    count = len(edits.rows)
    bounds = np.zeros(2 * count + 2, np.int64)
    bounds[1:-1:2], bounds[2:-1:2], bounds[-1] = kept_from, kept_to, len(texts.data)
    order = np.arange(2 * count + 1)
    order[1::2] = np.arange(2 * count + 1, 3 * count + 1)
    pieces = pa.concat_arrays([string_array(bounds, texts.data), edits.replacements]).take(pa.array(order))
    _, data = string_buffers(pieces)

    change = new_lengths - (kept_to - kept_from)
    per_row = np.bincount(edits.rows, weights=change, minlength=len(texts.byte_offsets) - 1)
    lengths = np.diff(texts.byte_offsets) + per_row.astype(np.int64)
    return string_array(offsets_from_lengths(lengths), data)


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
        (row, *change)
        for row, (original, text) in enumerate(zip(originals, texts, strict=True))
        if text is not None and (change := smallest_change(original, text)) is not None
    ]
    rows, starts, ends, new = zip(*changes, strict=True) if changes else ((), (), (), ())
    spans = np.array(starts, np.int32), np.array(ends, np.int32)
    return Edits(np.array(rows, np.int64), *spans, pa.array(new, pa.string()))
