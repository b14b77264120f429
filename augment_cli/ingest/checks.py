"""Which raw lines are sentences, and why the others are not: one vectorised check for all readers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.spans import offsets_from_lengths, ranges, string_buffers

MAX_CHARACTERS = 5_000

# Reasons for a single line.
NOT_UTF8 = "not_utf8"
CONTROL_CHARACTER = "control_character"
EMPTY = "empty"
TOO_LONG = "too_long"
BROKEN_JSON = "broken_json"
NO_TEXT_FIELD = "no_text_field"
WRONG_TYPE = "wrong_type"
# Reasons for the rest of a file: never within tolerance, since how much was lost is unknown.
DAMAGED_GZIP = "damaged_gzip"
DAMAGED_FILE = "damaged_file"
DAMAGE = frozenset({DAMAGED_GZIP, DAMAGED_FILE})

_CONTROL = np.zeros(256, bool)
_CONTROL[:32] = True
_CONTROL[ord("\t")] = False
_CONTROL[127] = True


@dataclass(frozen=True)
class RawBatch:
    """Lines of one source before any check.

    Attributes
    ----------
    source : str
        Name of the file, as it is stored.
    lines : ndarray of int64, shape (n,)
        Line (or row, in Parquet) of each, counted from 1.
    raw : pyarrow.BinaryArray or LargeBinaryArray, length n
        The text's bytes; where `reason` is set, the raw bytes of the line.
    ids : pyarrow.StringArray or None
        The user's own id of each line.
    reason : list of (position, reason)
        Lines the reader itself could not make sense of.
    """

    source: str
    lines: np.ndarray
    raw: pa.Array
    ids: pa.StringArray | None
    reason: list[tuple[int, str]]


def reasons_to_reject(batch: RawBatch, max_characters: int) -> np.ndarray:
    """For each line of a batch the reason to reject it, or an empty string; object array (n,)."""
    count = len(batch.raw)
    reasons = np.full(count, "", object)
    offsets, data = string_buffers(batch.raw)
    lengths = np.diff(offsets)

    control = _CONTROL[data]
    # U+0080 to U+009F, the C1 controls, are C2 80 to C2 9F in UTF-8.
    control[1:] |= (data[:-1] == 0xC2) & (data[1:] >= 0x80) & (data[1:] < 0xA0)
    if control.any():
        rows = np.searchsorted(offsets, np.flatnonzero(control), side="right") - 1
        reasons[np.unique(rows)] = CONTROL_CHARACTER

    # A line is at most as many characters as bytes, so only the long ones need decoding.
    for row in np.flatnonzero(lengths > max_characters):
        if len(batch.raw[int(row)].as_py().decode("utf-8", "replace")) > max_characters:
            reasons[row] = TOO_LONG

    reasons[_blank_rows(offsets, data)] = EMPTY

    if not _is_utf8(data):
        for bad_row in _rows_not_utf8(offsets, data):
            reasons[bad_row] = NOT_UTF8
    for position, reason in batch.reason:
        reasons[position] = reason
    return reasons


def _is_utf8(data: np.ndarray) -> bool:
    try:
        data.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _rows_not_utf8(offsets: np.ndarray, data: np.ndarray) -> list[int]:
    high = np.unique(np.searchsorted(offsets, np.flatnonzero(data >= 0x80), side="right") - 1)
    return [int(row) for row in high if not _is_utf8(data[offsets[row] : offsets[row + 1]])]


def _blank_rows(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Rows with nothing but white space, that of Unicode included."""
    lengths = np.diff(offsets)
    # A visible ASCII character settles nearly every row without decoding it.
    visible = np.append(0, np.cumsum((data > 32) & (data < 127)))
    unsure = np.flatnonzero(visible[offsets[1:]] == visible[offsets[:-1]])
    return np.array(
        [
            row
            for row in unsure
            if lengths[row] == 0
            or not data[offsets[row] : offsets[row + 1]].tobytes().decode("utf-8", "replace").strip()
        ],
        np.int64,
    )


def select_texts(batch: RawBatch, keep: np.ndarray) -> pa.StringArray:
    """The kept lines as a string column; `keep` holds their positions."""
    offsets, data = string_buffers(batch.raw)
    if len(keep) == len(batch.raw):
        return pa.StringArray.from_buffers(
            len(keep), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))
        )
    lengths = np.diff(offsets)[keep]
    return pa.StringArray.from_buffers(
        len(keep),
        pa.py_buffer(offsets_from_lengths(lengths).astype(np.int32)),
        pa.py_buffer(data[ranges(offsets[:-1][keep], lengths)]),
    )


def take_binary(array: pa.Array, positions: np.ndarray) -> pa.BinaryArray:
    """Some raw lines, as bytes."""
    return pc.take(array, pa.array(positions)).cast(pa.binary())
