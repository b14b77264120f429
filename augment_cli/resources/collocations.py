"""Which words stand beside each other, and how often: whether a word fits where another one stood.

Counted by `data/builds/collocations/build.py` in 950,000 sentences of Wikipedia and of books.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from augment_cli.resources import shipped
from augment_cli.store.files import sha256_of_file, sha256_of_json
from augment_cli.store.parquet import read_parquet

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_TABLES = ("words", "pairs")
_PRIOR = 0.5  # of a pair that was never met


def tokens(text: str) -> list[str]:
    """Words and marks of a text in lower case; numbers as 0, years as 0000, "an" as "a"."""
    return [_plain(token) for token in _TOKEN.findall(text.replace("’", "'").lower())]


def _plain(token: str) -> str:
    if not token[0].isdigit():
        return "a" if token == "an" else token
    return "0000" if len(token) == len("0000") and token.isdigit() else "0"


@dataclass(frozen=True, eq=False)
class Collocations:
    """Counts of words and of pairs of neighbours."""

    numbers: dict[str, int]  # number of each word
    counts: np.ndarray  # how often each word was met
    pairs: np.ndarray  # `first << 16 | second`, ascending
    pair_counts: np.ndarray

    def number(self, word: str) -> int:
        """Number of a word as `tokens` gives it; that of unknown ones where it is none of the 32,700."""
        return self.numbers.get(word, self.numbers[UNKNOWN])

    def together(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """int64 (m,): how often words (m,) were met with others (m,) right behind them."""
        wanted = first.astype(np.int64) << 16 | second
        place = np.minimum(np.searchsorted(self.pairs, wanted), len(self.pairs) - 1)
        return np.where(self.pairs[place] == wanted, self.pair_counts[place], 0)

    def fit(self, old: np.ndarray, new: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How well words fit between the neighbours of those that they replace."""
        # The natural logarithm of how often the new word was met beside its neighbour, over how often it
        # would be if it went with it as the old one does; of the two neighbours the less fitting one. 0 where
        # nothing is known.
        scale = self.counts[new] / np.maximum(self.counts[old], 1)
        known = (old != self.numbers[UNKNOWN]) & (new != self.numbers[UNKNOWN])
        sides = [
            np.log((self.together(*new_pair) + _PRIOR) / (self.together(*old_pair) * scale + _PRIOR))
            for old_pair, new_pair in (((left, old), (left, new)), ((old, right), (new, right)))
        ]
        return np.where(known, np.minimum(*sides), 0.0)


@lru_cache(maxsize=1)
def load_collocations() -> Collocations:
    """The shipped counts; once a process."""
    words, pairs = (read_parquet(shipped(f"collocations/{name}.parquet")) for name in _TABLES)
    keys = pairs["first"].to_numpy().astype(np.int64) << 16 | pairs["second"].to_numpy()
    names = words["word"].to_pylist()
    counts = words["count"].to_numpy().astype(np.int64)
    return Collocations(
        dict(zip(names, range(len(names)), strict=True)),
        counts,
        keys,
        pairs["count"].to_numpy().astype(np.int64),
    )


@lru_cache(maxsize=1)
def collocations_digest() -> str:
    """SHA-256 of the tables' contents, for the fingerprint of what is made with them."""
    return sha256_of_json([sha256_of_file(shipped(f"collocations/{name}.parquet")) for name in _TABLES])
