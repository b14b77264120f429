"""Swap words at random: any two of a sentence (EDA), or neighbours (AugCSE's RandomSwap).

`--distance any` makes ⌊rate·words⌋ swaps, at least one, of two random different words, one after the other;
`--distance neighbour` swaps ⌈rate·words⌉ words, at most 30, with the word on their left or right.

Differences from the originals (EDA, nlpaug): only words move, punctuation and spacing stay where
they are; the word that comes to the beginning takes over its capital, and the one that leaves it loses
it unless it is a name; a sentence swapped back to what it was counts as unchanged.
"""

from dataclasses import dataclass

import numpy as np

from augment_cli.augmentations.eda.random_words import permutations, swap_edits
from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits


@dataclass(frozen=True)
class SwapParameters:
    """Parameters of random swaps; the defaults are EDA's."""

    rate: float = word_edits.rate_parameter(0.1, "swaps as a share of the words")
    distance: str = parameter("any", "swap any two words, or neighbours", choices=("any", "neighbour"))
    maximum: int = word_edits.maximum_parameter(30)


def _run(parameters: SwapParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("random-swap")
    words = Words.of(rows.code_points)
    source = permutations(words, rows.row_ids, key, parameters.rate, parameters.distance, parameters.maximum)
    reasons = np.full(len(rows), Reason.SAME_TEXT, object)
    reasons[words.counts < 2] = Reason.TOO_FEW_WORDS
    reasons[words.counts == 0] = Reason.NO_TOKEN
    return Outcome(swap_edits(words, source), reasons)


RANDOM_SWAP = Augmentation(
    name="random-swap",
    version=1,
    kind="positive",
    paper="Wei and Zou 2019, EDA; Tang et al. 2022, AugCSE",
    parameters=SwapParameters,
    prepare=prepared(_run),
    examples=("augment-cli random-swap", "augment-cli random-swap --distance neighbour --rate 0.1"),
    meaning="possibly altered",
    entailment=("neither", "the order of words says who did what"),
)
