"""Which raw lines are sentences, and why the others are not: one vectorised check for all readers."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from augment_cli.contract.draws import splitmix64
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.text.spans import CodePoints, string_buffers
from augment_cli.text.surface import normalize

MAX_RAW_BYTES = 64 << 10

# No fault of the line's own: never counted against --max-rejects.
REPEATS = frozenset({Reason.DUPLICATE, Reason.NEAR_DUPLICATE})
# Reasons for the rest of a file: never within tolerance, since how much was lost is unknown.
_UNREADABLE = {Reason.DAMAGED_GZIP, Reason.DAMAGED_ZSTD, Reason.DAMAGED_FILE}
DAMAGE = _UNREADABLE | {Reason.UNCLOSED_QUOTE, Reason.DECOMPRESSION_BOMB}

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
    reasons = np.full(len(raw_lines.texts), "", object)
    offsets, data = string_buffers(raw_lines.texts)
    lengths = np.diff(offsets)

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
    starts = offsets[:-1][np.diff(offsets) > 0]
    if ((data[starts] & 0xC0) == 0x80).any() or not _decodes(data):  # a row begins within a character
        for row in np.unique(np.searchsorted(offsets, np.flatnonzero(data >= 0x80), side="right") - 1):
            if not _decodes(data[offsets[row] : offsets[row + 1]]):
                reasons[row] = Reason.NOT_UTF8
    for position, reason in raw_lines.reasons:
        reasons[position] = reason
    return reasons


def _decodes(data: np.ndarray) -> bool:
    try:  # Arrow looks at bytes in place, where decoding them would copy them twice
        pa.Array.from_buffers(
            pa.large_string(), 1, [None, pa.py_buffer(np.array([0, len(data)], np.int64)), pa.py_buffer(data)]
        ).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


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
    """The kept lines, which are UTF-8, as a string column; `keep` holds their positions."""
    texts = raw_lines.texts if len(keep) == len(raw_lines.texts) else raw_lines.texts.take(pa.array(keep))
    return texts.cast(pa.string())


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


_GRAM = 4  # characters
_BANDS, _ROWS = 8, 4
_AT_ONCE = 2_048  # texts whose 4-grams are in memory


class Duplicates:
    """Texts that were kept so far, each found again by an equal one, with a threshold also by a near one.

    Two texts are near if the sets of their character 4-grams have a Jaccard similarity of at least the
    threshold, case, punctuation and spaces aside. Candidates come from MinHash with bands (Broder 1997;
    Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.4): two texts of similarity s agree
    in one of 8 bands of 4 numbers with probability 1 − (1 − s⁴)⁸, which is 0.985 at 0.8 and 0.9999 at 0.9. Of
    several rows with an equal band the first kept one is compared, so what is found depends on the order of
    the lines alone, never on how they are read.

    Near ones take a kilobyte of memory for each text of a hundred characters, equal ones a tenth of it.
    """

    def __init__(self, threshold: float | None = None) -> None:
        self._is_near, self._threshold = threshold is not None, threshold or 1.0
        self._equal: dict[bytes, int] = {}
        self._texts: list[str] = []
        # For each band the kept text of each key.
        self._first: list[dict[int, int]] = [{} for _ in range(_BANDS if self._is_near else 0)]

    def add(self, texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Tell which texts repeat a kept one, and keep the others."""
        # The number of the kept text that each one repeats (−1 where it is kept; 0 for all without a
        # threshold), int64 (n,); whether it does so to the letter, bool (n,).
        repeated, is_equal = np.full(len(texts), -1), np.zeros(len(texts), bool)
        words, keys = texts, np.zeros((len(texts), 0), np.uint64)
        if self._is_near:
            words = normalize(texts)
            keys = band_keys(words)
        rows = zip(texts.cast(pa.binary()).to_pylist(), words.to_pylist(), keys.tolist(), strict=True)
        for row, (text, plain, own) in enumerate(rows):
            digest = hashlib.blake2b(text, digest_size=16).digest()
            if digest in self._equal:
                repeated[row], is_equal[row] = self._equal[digest], True
                continue
            bands = list(zip(self._first, own, strict=True))
            found = sorted({first[key] for first, key in bands if key in first})
            near = (one for one in found if similarity(plain, self._texts[one]) >= self._threshold)
            repeated[row] = next(near, -1)
            if repeated[row] < 0:
                number = self._equal[digest] = len(self._texts)
                if self._is_near:
                    self._texts.append(plain)
                for first, key in bands:
                    first.setdefault(key, number)
        return repeated, is_equal


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of the 4-grams of two normalized texts, 0 to 1."""
    first, second = _grams(one), _grams(other)
    return len(first & second) / len(first | second)


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(max(1, len(text) - _GRAM + 1))}


def band_keys(texts: pa.Array) -> np.ndarray:
    """MinHash of the 4-grams of normalized texts, four numbers joined to a key; uint64 (n, 8)."""
    if len(texts) > _AT_ONCE:
        parts = (texts.slice(start, _AT_ONCE) for start in range(0, len(texts), _AT_ONCE))
        return np.concatenate([band_keys(part) for part in parts])
    points = CodePoints.of(texts)
    lengths = np.diff(points.offsets)
    counts = np.maximum(lengths - _GRAM + 1, 1)
    starts = np.append(0, np.cumsum(counts))
    rows = np.repeat(np.arange(len(counts)), counts)
    first = np.arange(starts[-1]) - starts[rows] + points.offsets[rows]
    end = points.offsets[1:][rows]
    values = np.append(points.values, 0).astype(np.uint64)
    hashes = np.zeros(len(rows), np.uint64)
    for place in range(_GRAM):  # a text of fewer characters is a gram of its own, filled up with zeros
        inside = first + place < end
        hashes = splitmix64(hashes, np.where(inside, values[np.where(inside, first + place, -1)] + 1, 0))
    hashes = (hashes >> np.uint64(32)).astype(np.uint32)
    multipliers = splitmix64(np.uint64(0), np.arange(1, _BANDS * _ROWS + 1, dtype=np.uint64))
    multipliers = (multipliers >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    keys = np.zeros((len(counts), _BANDS), np.uint64)
    for number, multiplier in enumerate(multipliers):
        smallest = np.minimum.reduceat((hashes ^ multiplier) * multiplier, starts[:-1]).astype(np.uint64)
        band = number // _ROWS
        keys[:, band] = splitmix64(keys[:, band], smallest + np.uint64(1))
    return keys
