"""Near-duplicates while a corpus is read: MinHash finds candidates, the characters decide.

Two texts are near if the sets of their character 4-grams have a Jaccard similarity of at least the threshold,
case, punctuation and spaces aside. Candidates come from MinHash with bands (Broder 1997; Leskovec, Rajaraman
and Ullman, Mining of Massive Datasets, section 3.4): two texts of similarity s agree in one of 8 bands of 4
numbers with probability 1 − (1 − s⁴)⁸, which is 0.985 at 0.8 and 0.9999 at 0.9. Of several rows with an equal
band the first kept one is compared, so what is found depends on the order of the lines alone, never on how
they are read.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from augment_cli.contract.draws import splitmix64
from augment_cli.text.normalization import normalize
from augment_cli.text.spans import CodePoints

_GRAM = 4  # characters
_BANDS, _ROWS = 8, 4
_AT_ONCE = 2_048  # texts whose 4-grams are in memory


class NearDuplicates:
    """Texts that were kept so far, each found again by an equal or a near one.

    Some 400 bytes of memory for each text of a hundred characters.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._equal: dict[bytes, int] = {}
        self._bands = [_FirstRows() for _ in range(_BANDS)]
        self._texts: list[pa.Array] = []
        self._starts: list[int] = [0]

    def add(self, texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Tell which texts repeat a kept one, and keep the others."""
        # The number of the kept text that each one repeats (−1 where it is kept), int64 (n,); whether it does
        # so to the letter, bool (n,).
        words = normalize(texts)
        keys = band_keys(words)
        known = np.stack([band.of(keys[:, at]) for at, band in enumerate(self._bands)], axis=1)
        digests = [
            hashlib.blake2b(text, digest_size=16).digest() for text in texts.cast(pa.binary()).to_pylist()
        ]
        plain = words.to_pylist()
        repeated, is_equal = np.full(len(texts), -1), np.zeros(len(texts), bool)
        first_here: list[dict[int, int]] = [{} for _ in range(_BANDS)]
        kept: list[int] = []
        first = self._starts[-1]
        for row, digest in enumerate(digests):
            if digest in self._equal:
                repeated[row], is_equal[row] = self._equal[digest], True
                continue
            own = keys[row].tolist()
            found = {
                there if there >= 0 else here.get(key, -1)
                for there, here, key in zip(known[row].tolist(), first_here, own, strict=True)
            } - {-1}
            for number in sorted(found):
                other = plain[kept[number - first]] if number >= first else self._text(number)
                if similarity(plain[row], other) >= self._threshold:
                    repeated[row] = number
                    break
            else:
                number = first + len(kept)
                kept.append(row)
                self._equal[digest] = number
                for there, here, key in zip(known[row].tolist(), first_here, own, strict=True):
                    if there < 0:
                        here.setdefault(key, number)
        self._texts.append(words.take(pa.array(kept, pa.int64())))
        self._starts.append(first + len(kept))
        for band, here in zip(self._bands, first_here, strict=True):
            band.add(np.fromiter(here, np.uint64, len(here)), np.fromiter(here.values(), np.int64, len(here)))
        return repeated, is_equal

    def _text(self, number: int) -> str:
        chunk = int(np.searchsorted(self._starts, number, side="right")) - 1
        return str(self._texts[chunk][number - self._starts[chunk]].as_py())


class _FirstRows:
    """A map from keys to rows in sorted arrays, merged like the runs of a merge sort: 16 bytes an entry."""

    def __init__(self) -> None:
        self._runs: list[tuple[np.ndarray, np.ndarray]] = []

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Rows of keys, −1 where there is none; int64 (n,)."""
        rows = np.full(len(keys), -1)
        for known, values in self._runs:
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            rows = np.where(known[place] == keys, values[place], rows)
        return rows

    def add(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Keys that are not in it yet, each once."""
        if not len(keys):
            return
        while self._runs and len(self._runs[-1][0]) <= 2 * len(keys):
            other_keys, other_rows = self._runs.pop()
            keys, rows = np.concatenate([other_keys, keys]), np.concatenate([other_rows, rows])
        order = np.argsort(keys)
        self._runs.append((keys[order], rows[order]))


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of the 4-grams of two normalized texts, 0 to 1."""
    first, second = _grams(one), _grams(other)
    return len(first & second) / len(first | second)


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(max(1, len(text) - _GRAM + 1))}


def band_keys(texts: pa.Array) -> np.ndarray:
    """MinHash of the 4-grams of normalized texts, four numbers joined to a key; uint64 (n, 8)."""
    found = [np.zeros((0, _BANDS), np.uint64)]
    found += [_band_keys(texts.slice(start, _AT_ONCE)) for start in range(0, len(texts), _AT_ONCE)]
    return np.concatenate(found)


def _band_keys(texts: pa.Array) -> np.ndarray:
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
