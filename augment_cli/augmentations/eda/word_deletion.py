"""Delete words at random: WDel, EDA's random deletion, AugCSE's RandomDeletion.

The three differ in two numbers. WDel (SDA's and VaSCL's baseline) takes ⌈rate·words⌉ words, rate 5, 10 or
20 %, at most 10 of them; EDA drops each word on its own with probability 0.1 (`--amount coin --maximum 0`);
AugCSE's takes 60 %, at most 30 (`--rate 0.6 --maximum 30`). A text of one word is left alone, and at
least one word always stays.

Differences from the originals (nlpaug, EDA): punctuation, spacing and case survive; a comma that
would be left without its word goes with it; `a` becomes `an` where the next word asks for it; the
draw is the row's own instead of one sequence for the process.
"""

from dataclasses import dataclass

from augment_cli.augmentations.eda.random_words import COLUMNS, deletion_outcome, deletions
from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits


@dataclass(frozen=True)
class DeletionParameters:
    """Parameters of word deletion; the defaults are WDel's at 10 %."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words to delete")
    amount: str = word_edits.amount_parameter("ceil")
    maximum: int = word_edits.maximum_parameter(10)


def _run(parameters: DeletionParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("word-deletion")
    words = Words.of(rows.code_points)
    return deletion_outcome(
        words, deletions(words, rows.row_ids, key, parameters.rate, parameters.amount, parameters.maximum)
    )


WORD_DELETION = Augmentation(
    name="word-deletion",
    version=4,
    kind="positive",
    paper="Wei and Zou 2019, EDA; baseline of Mao et al. 2022 (SDA) and Zhang et al. 2022 (VaSCL)",
    parameters=DeletionParameters,
    prepare=prepared(_run),
    columns=COLUMNS,
    examples=(
        "augment-cli word-deletion --rate 0.2",
        "augment-cli word-deletion --rate 0.1 --amount coin --maximum 0 --name eda-deletion",
    ),
    meaning="possibly altered",
    entailment=("neither", "the words that go may be those that count"),
)
