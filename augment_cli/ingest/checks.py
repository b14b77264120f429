"""Which raw lines are sentences, and why the others are not: one vectorised check for all readers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.text.spans import offsets_from_lengths, ranges, string_buffers

MAX_RAW_BYTES = 64 << 10

# No fault of the line's own: never counted against --max-rejects.
REPEATS = frozenset({Reason.DUPLICATE, Reason.NEAR_DUPLICATE})
# Reasons for the rest of a file: never within tolerance, since how much was lost is unknown.
DAMAGE = frozenset(
    {
        Reason.DAMAGED_GZIP,
        Reason.DAMAGED_ZSTD,
        Reason.DAMAGED_FILE,
        Reason.UNCLOSED_QUOTE,
        Reason.DECOMPRESSION_BOMB,
    }
)

JOINED = "line_breaks_joined"  # in the statistics of a part: texts whose line breaks were made spaces
Reasons = list[tuple[int, str]]  # of lines that a reader could make no sense of, by their position


@dataclass(frozen=True)
class RawLines:
    """Lines of one source before any check."""

    source: str  # name of the file, as it is stored
    lines: np.ndarray  # line (or row, in Parquet) of each, counted from 1
    texts: pa.Array  # the bytes of the text
    # the bytes of the whole line, for the rejects; the texts themselves where a line is nothing else
    raw: pa.Array
    ids: pa.StringArray | None  # the user's own id of each line
    reasons: Reasons
    # further columns of the input that are kept, null where a line has no such field
    more: Mapping[str, pa.StringArray] = field(default_factory=dict)
    is_json: bool = False


def without_line_breaks(texts: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Texts with each line break, and white space around it, made one space; positions of those changed."""
    offsets, data = string_buffers(texts)
    breaks = np.flatnonzero((data == 0x0A) | (data == 0x0D))
    if not len(breaks):
        return texts, breaks
    broken = np.unique(np.searchsorted(offsets, breaks, side="right") - 1)
    values = texts.to_pylist()
    for row in broken.tolist():
        values[row] = re.sub(rb"[ \t]*[\r\n][ \t\r\n]*", b" ", values[row].strip(b" \t\r\n"))
    return pa.array(values, texts.type), broken


def reasons_to_reject(raw_lines: RawLines, max_characters: int, keeps_breaks: bool = False) -> np.ndarray:
    """For each line the reason to reject it, or an empty string; object array (n,)."""
    count = len(raw_lines.texts)
    reasons = np.full(count, "", object)
    offsets, data = string_buffers(raw_lines.texts)
    lengths = np.diff(offsets)
    is_utf8 = _is_utf8(offsets, data)

    control = np.flatnonzero((data < 32) | (data == 127))
    control = control[~np.isin(data[control], list(b"\t\r\n" if keeps_breaks else b"\t"))]
    # U+0080 to U+009F, the C1 controls, are C2 80 to C2 9F in UTF-8.
    leads = np.flatnonzero(data[:-1] == 0xC2)
    c1 = leads[(data[leads + 1] >= 0x80) & (data[leads + 1] < 0xA0)]
    for positions in (control, c1):
        reasons[np.searchsorted(offsets, positions, side="right") - 1] = Reason.CONTROL_CHARACTER

    # A line is at most as many characters as bytes, so only the long ones need decoding.
    for row in np.flatnonzero(lengths > max_characters):
        if len(raw_lines.texts[int(row)].as_py().decode("utf-8", "replace")) > max_characters:
            reasons[row] = Reason.TOO_LONG

    reasons[_blank_rows(offsets, data)] = Reason.EMPTY
    if not is_utf8:
        for bad_row in _rows_not_utf8(offsets, data):
            reasons[bad_row] = Reason.NOT_UTF8
    for position, reason in raw_lines.reasons:
        reasons[position] = reason
    return reasons


def _is_utf8(offsets: np.ndarray, data: np.ndarray) -> bool:
    """Whether every row is UTF-8: all bytes together are, and no row begins within a character."""
    starts = offsets[:-1][np.diff(offsets) > 0]
    return not ((data[starts] & 0xC0) == 0x80).any() and _decodes(data)


def _decodes(data: np.ndarray) -> bool:
    try:  # Arrow looks at bytes in place, where decoding them would copy them twice
        pa.Array.from_buffers(
            pa.large_string(), 1, [None, pa.py_buffer(np.array([0, len(data)], np.int64)), pa.py_buffer(data)]
        ).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _rows_not_utf8(offsets: np.ndarray, data: np.ndarray) -> list[int]:
    high = np.unique(np.searchsorted(offsets, np.flatnonzero(data >= 0x80), side="right") - 1)
    return [int(row) for row in high if not _decodes(data[offsets[row] : offsets[row + 1]])]


def _blank_rows(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Rows with nothing but white space, that of Unicode included."""
    lengths = np.diff(offsets)
    blank = lengths == 0
    # The first byte settles nearly every row: visible ASCII, or the lead of a letter beyond Latin.
    first = data[offsets[:-1][~blank]]
    unsure = np.flatnonzero(~blank)[(first <= 32) | (first == 0xC2) | ((first >= 0xE1) & (first <= 0xE3))]
    for row in unsure:
        text = data[offsets[row] : offsets[row + 1]].tobytes().decode("utf-8", "replace")
        blank[row] = not text.strip()
    return np.flatnonzero(blank)


def select_texts(raw_lines: RawLines, keep: np.ndarray) -> pa.StringArray:
    """The kept lines as a string column; `keep` holds their positions."""
    offsets, data = string_buffers(raw_lines.texts)
    if len(keep) == len(raw_lines.texts):
        return pa.StringArray.from_buffers(
            len(keep), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))
        )
    lengths = np.diff(offsets)[keep]
    return pa.StringArray.from_buffers(
        len(keep),
        pa.py_buffer(offsets_from_lengths(lengths).astype(np.int32)),
        pa.py_buffer(data[ranges(offsets[:-1][keep], lengths)]),
    )


def take_raw(raw_lines: RawLines, positions: np.ndarray) -> pa.BinaryArray:
    """Some lines as they were read, each cut after `MAX_RAW_BYTES`."""
    raw = pc.take(raw_lines.raw, pa.array(positions))
    return pc.binary_slice(raw, 0, MAX_RAW_BYTES).cast(pa.binary())


def check_column(
    path: object, names: Sequence[str], name: str, option: str, advice: str = "name one with"
) -> None:
    """See that a file has a column, and no second one of that name."""
    if name not in names:
        raise UsageError(f"{path}: has no column {name!r}, it has {names}; {advice} {option}")
    if (count := list(names).count(name)) > 1:
        raise UsageError(
            f"{path}: has {count} columns {name!r}, and which is meant cannot be known; "
            f"rename them, or name another with {option}"
        )
