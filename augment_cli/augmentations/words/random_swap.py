"""Swap words at random: any two of a sentence (EDA), or neighbours (AugCSE's RandomSwap).

`--distance any` makes ⌊rate·words⌋ swaps, at least one, of two random different words, one after the other;
`--distance neighbour` swaps ⌈rate·words⌉ words, at most 30, with the word on their left or right.

Differences from the originals (EDA, nlpaug): only words move, punctuation and spacing stay where
they are; the word that comes to the beginning takes over its capital, and the one that leaves it loses
it unless it is a name; swapping a sentence back is no change and is reported as such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.words.shared import word_edits
from augment_cli.augmentations.words.shared.word_case import lower_first_words
from augment_cli.augmentations.words.shared.words import Words
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Batch, Outcome
from augment_cli.draws import bits
from augment_cli.text.surface import UPPER, character_classes


@dataclass(frozen=True)
class SwapParameters:
    """Parameters of random swaps; the defaults are EDA's."""

    rate: float = word_edits.rate_parameter(0.1, "swaps as a share of the words")
    distance: str = parameter("any", "swap any two words, or neighbours", choices=("any", "neighbour"))
    maximum: int = word_edits.maximum_parameter(30)


def permutations(words: Words, row_ids: np.ndarray, key: int, parameters: SwapParameters) -> np.ndarray:
    """int64 (N,): index of the word that comes to each place."""
    source = np.arange(len(words))
    counts = words.counts
    amount = "floor" if parameters.distance == "any" else "ceil"
    swaps = word_edits.counts_of(counts, parameters.rate, amount, parameters.maximum)
    swaps[counts < 2] = 0
    # One step for all texts at a time: the swaps of one text follow on each other.
    for step in range(int(swaps.max(initial=0))):
        rows = np.flatnonzero(swaps > step)
        size = counts[rows].astype(np.uint64)
        drawn = bits(key, row_ids[rows], np.full(len(rows), step))
        one = ((drawn >> np.uint64(32)) % size).astype(np.int64)
        rest = drawn & np.uint64(0xFFFFFFFF)
        if parameters.distance == "any":
            other = (rest % (size - np.uint64(1))).astype(np.int64)
            other += other >= one
        else:
            to_left = (one == counts[rows] - 1) | ((rest % np.uint64(2) == 0) & (one > 0))
            other = np.where(to_left, one - 1, one + 1)
        first, second = words.offsets[rows] + one, words.offsets[rows] + other
        source[first], source[second] = source[second], source[first]
    return source


def swap_edits(words: Words, source: np.ndarray) -> word_edits.Edits:
    """Edits that put word source[i] in the place of word i, with capitals where the text begins."""
    moved = np.flatnonzero(source != np.arange(len(words)))
    strings = lower_first_words(words, source[moved])
    classes, values = character_classes(), words.texts.values
    begins = (words.positions[moved] == 0) & (classes[values[words.starts[moved]]] & UPPER > 0)
    if begins.any():
        mask = pa.array(begins)
        strings = pc.replace_with_mask(strings, mask, word_edits.capitalised(strings.filter(mask)))
    return word_edits.edits_of(words, words.rows[moved], words.starts[moved], words.ends[moved], strings)


def swap_outcome(words: Words, source: np.ndarray) -> Outcome:
    """Edits and reasons for a permutation of the words."""
    reasons = np.full(len(words.counts), Reason.SAME_TEXT, object)
    reasons[words.counts < 2] = Reason.TOO_FEW_WORDS
    reasons[words.counts == 0] = word_edits.NO_TOKEN
    return Outcome(swap_edits(words, source), reasons)


def _prepare(parameters: SwapParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    key = resources.key("random-swap")

    def run(batch: Batch) -> Outcome:
        words = Words.of(batch.code_points)
        return swap_outcome(words, permutations(words, batch.row_ids, key, parameters))

    return run


RANDOM_SWAP = Augmentation(
    name="random-swap",
    version=1,
    kind="positive",
    paper="Wei and Zou 2019, EDA; Tang et al. 2022, AugCSE",
    needs=frozenset(),
    parameters=SwapParameters,
    prepare=_prepare,
    examples=("augment-cli random-swap", "augment-cli random-swap --distance neighbour --rate 0.1"),
    meaning="possibly altered",
)
