"""Delete words at random: WDel, EDA's random deletion, AugCSE's RandomDeletion.

The three differ in two numbers. WDel (SDA's and VaSCL's baseline) takes ⌈rate·words⌉ words, rate 5, 10 or
20 %, at most 10 of them; EDA drops each word on its own with probability 0.1 (`--amount coin --maximum 0`);
AugCSE's takes 60 %, at most 30 (`--rate 0.6 --maximum 30`). A text of one word is left alone, and at
least one word always stays.

Differences from the originals (nlpaug, EDA): punctuation, spacing and case survive; a comma that
would be left without its word goes with it; `a` becomes `an` where the next word asks for it; the
draw is the row's own instead of one sequence for the process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.words.shared import word_edits
from augment_cli.augmentations.words.shared.word_removal import remove_words
from augment_cli.augmentations.words.shared.words import Words
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import check_parameters
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Batch, Outcome
from augment_cli.draws import uniform

COLUMNS = (pa.field("deleted", pa.int32(), nullable=False), pa.field("words", pa.int32(), nullable=False))


@dataclass(frozen=True)
class DeletionParameters:
    """Parameters of word deletion; the defaults are WDel's at 10 %."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words to delete")
    amount: str = word_edits.amount_parameter("ceil")
    maximum: int = word_edits.maximum_parameter(10)


def deletions(words: Words, row_ids: np.ndarray, key: int, parameters: DeletionParameters) -> np.ndarray:
    """bool (N,): which words to delete; never all of a text."""
    eligible = words.counts[words.rows] > 1
    chosen = word_edits.choose(
        words, row_ids, eligible, key, parameters.rate, parameters.amount, parameters.maximum
    )
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
    """Edits, reasons and columns for a choice of removed words."""
    reasons = word_edits.reasons_for(words, words.counts[words.rows] > 1)
    reasons[words.counts == 1] = Reason.TOO_FEW_WORDS
    deleted = np.bincount(words.rows[removed], minlength=len(words.counts))
    columns = word_edits.count_columns(deleted=deleted, words=words.counts)
    return Outcome(remove_words(words, removed), reasons, columns)


def _prepare(parameters: DeletionParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    key = resources.key("word-deletion")

    def run(batch: Batch) -> Outcome:
        words = Words.of(batch.code_points)
        return deletion_outcome(words, deletions(words, batch.row_ids, key, parameters))

    return run


WORD_DELETION = Augmentation(
    name="word-deletion",
    version=2,
    kind="positive",
    paper="Wei and Zou 2019, EDA; baseline of Zhu et al. 2022 (SDA) and Zhang et al. 2022 (VaSCL)",
    needs=frozenset(),
    parameters=DeletionParameters,
    prepare=_prepare,
    columns=COLUMNS,
    examples=(
        "augment-cli word-deletion --rate 0.2",
        "augment-cli word-deletion --rate 0.1 --amount coin --maximum 0 --name eda-deletion",
    ),
    meaning="possibly altered",
)
