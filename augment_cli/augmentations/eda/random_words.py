"""Which words go or change places at random, and what comes of it."""

from __future__ import annotations

import numpy as np

from augment_cli.augmentations.eda.word_removal import remove_words
from augment_cli.contract.draws import bits, uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome
from augment_cli.english.words import word_edits
from augment_cli.english.words.word_edits import lower_first_words
from augment_cli.english.words.words import Words
from augment_cli.text.spans import Edits
from augment_cli.text.surface import capitalised_where

COLUMNS = word_edits.count_fields("deleted", "words")


def deletions(
    words: Words, row_ids: np.ndarray, key: int, rate: float, amount: str, maximum: int
) -> np.ndarray:
    """Which words to delete; never all of a text."""
    eligible = words.counts[words.rows] > 1
    chosen = word_edits.choose(words, row_ids, eligible, key, rate, amount, maximum)
    removed = np.zeros(len(words), bool)
    removed[chosen] = True
    # Where every word was drawn, one of them stays: the one that the last draw of the row names.
    gone = np.flatnonzero(np.bincount(words.rows[chosen], minlength=len(words.counts)) == words.counts)
    gone = gone[words.counts[gone] > 0]
    if len(gone):
        kept = uniform(key, row_ids[gone], words.counts[gone]) * words.counts[gone]
        removed[words.offsets[gone] + kept.astype(np.int64)] = False
    return removed


def deletion_outcome(words: Words, removed: np.ndarray) -> Outcome:
    """Edits, reasons and columns for a choice of words to delete, bool (N,)."""
    reasons = word_edits.reasons_for(words, words.counts[words.rows] > 1)
    reasons[words.counts == 1] = Reason.TOO_FEW_WORDS
    deleted = np.bincount(words.rows[removed], minlength=len(words.counts))
    columns = word_edits.count_columns(deleted=deleted, words=words.counts)
    return Outcome(remove_words(words, removed), reasons, columns)


def crops(words: Words, row_ids: np.ndarray, key: int, rate: float, part: str) -> np.ndarray:
    """Which words go when a stretch is kept or cut out."""
    # At least one word of each text stays; at least one goes where rate > 0 and there are two.
    counts = words.counts
    gone = np.minimum(word_edits.counts_of(counts, rate, "ceil", 0), np.maximum(counts - 1, 0))
    length = counts - gone if part == "window" else gone
    places = counts - length + 1
    start = (uniform(key, row_ids, np.zeros(len(counts), np.int64)) * places).astype(np.int64)
    inside = words.positions - start[words.rows]
    inside_stretch = (inside >= 0) & (inside < length[words.rows])
    return ~inside_stretch if part == "window" else inside_stretch


def permutations(
    words: Words, row_ids: np.ndarray, key: int, rate: float, distance: str, maximum: int
) -> np.ndarray:
    """Swap words of each text at random, one swap after the other."""
    # int64 (N,): the word that comes to each place.
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
