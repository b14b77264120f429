"""Swap neighbours, delete words or cut a stretch out: one of the three for each sentence, drawn uniformly.

AugCSE's RandomWordAugmentation; 10 % of the words as in its figure 6 (its code says 15 %). Swap, deletion
and crop are those of `random-swap --distance neighbour`, `word-deletion` and `crop --part gap`.

Differences from the original: those of the three; and the choice is the sentence's own instead of one
that a re-seeded generator repeats.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.eda.random_words import (
    crops,
    deletion_outcome,
    deletions,
    permutations,
    swap_edits,
)
from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits

CHOICES = ("swap", "deletion", "crop")


@dataclass(frozen=True)
class MixtureParameters:
    """Parameters of the mixture."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words that are moved or go")
    maximum: int = word_edits.maximum_parameter(30)


def _run(parameters: MixtureParameters, resources: Resources, rows: Rows) -> Outcome:
    keys = {choice: resources.key(f"random-mixture/{choice}") for choice in ("choice", *CHOICES)}
    rate, maximum = parameters.rate, parameters.maximum
    words = Words.of(rows.code_points)
    drawn = uniform(keys["choice"], rows.row_ids, np.zeros(len(rows), np.int64))
    choice = (drawn * len(CHOICES)).astype(np.int64)
    of_word = choice[words.rows]
    removed = np.where(
        of_word == 1,
        deletions(words, rows.row_ids, keys["deletion"], rate, "ceil", maximum),
        (of_word == 2) & crops(words, rows.row_ids, keys["crop"], rate, "gap"),
    )
    source = permutations(words, rows.row_ids, keys["swap"], rate, "neighbour", maximum)
    source = np.where(of_word == 0, source, np.arange(len(words)))
    outcome = deletion_outcome(words, removed)
    edits = word_edits.merged(outcome.edits, swap_edits(words, source))
    outcome.reasons[(choice == 0) & (words.counts > 1)] = Reason.SAME_TEXT  # swapped back
    return Outcome(edits, outcome.reasons, {"choice": pa.array(CHOICES).take(pa.array(choice))})


RANDOM_MIXTURE = Augmentation(
    name="random-mixture",
    version=4,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (RandomWordAugmentation)",
    parameters=MixtureParameters,
    prepare=prepared(_run),
    columns=(pa.field("choice", pa.string(), nullable=False),),
    examples=("augment-cli random-mixture", "augment-cli random-mixture --rate 0.15"),
    meaning="possibly altered",
    entailment=("neither", "the words that go or trade places may be those that count"),
)
