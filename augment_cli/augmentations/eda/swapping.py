"""Words that change places: which, and the edits that let them."""

from __future__ import annotations

import numpy as np

from augment_cli.contract.draws import bits
from augment_cli.english.words import word_edits
from augment_cli.english.words.word_case import lower_first_words
from augment_cli.english.words.words import Words
from augment_cli.text.letter_case import capitalised_where
from augment_cli.text.spans import Edits


def permutations(
    words: Words, row_ids: np.ndarray, key: int, rate: float, distance: str, maximum: int
) -> np.ndarray:
    """Swap words of each text at random, one swap after the other."""
    # row_ids: ndarray of int64, shape (n,)
    # Returns ndarray of int64, shape (N,); index of the word that comes to each place.
    source = np.arange(len(words))
    counts = words.counts
    amount = "floor" if distance == "any" else "ceil"
    swaps = word_edits.counts_of(counts, rate, amount, maximum)
    swaps[counts < 2] = 0
    # One step for all texts at a time: the swaps of one text follow on each other.
    for step in range(int(swaps.max(initial=0))):
        rows = np.flatnonzero(swaps > step)
        size = counts[rows].astype(np.uint64)
        drawn = bits(key, row_ids[rows], np.full(len(rows), step))
        one = ((drawn >> np.uint64(32)) % size).astype(np.int64)
        rest = drawn & np.uint64(0xFFFFFFFF)
        if distance == "any":
            other = (rest % (size - np.uint64(1))).astype(np.int64)
            other += other >= one
        else:
            to_left = (one == counts[rows] - 1) | ((rest % np.uint64(2) == 0) & (one > 0))
            other = np.where(to_left, one - 1, one + 1)
        first, second = words.offsets[rows] + one, words.offsets[rows] + other
        source[first], source[second] = source[second], source[first]
    return source


def swap_edits(words: Words, source: np.ndarray) -> Edits:
    """Edits that put word source[i] in the place of word i, with capitals where the text begins."""
    moved = np.flatnonzero(source != np.arange(len(words)))
    strings = lower_first_words(words, source[moved])
    strings = capitalised_where(strings, (words.positions[moved] == 0) & words.has_capital[moved])
    return word_edits.edits_of(
        words, words.rows[moved], words.flat_starts[moved], words.flat_ends[moved], strings
    )
