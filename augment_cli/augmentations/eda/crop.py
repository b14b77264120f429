"""Crop a sentence: keep a contiguous stretch of its words, or cut one out.

`--part window` keeps a stretch of 100−k % of the words (crop k % of SimCSE's and SDA's tables); `--part gap`
cuts a stretch of k % out (nlpaug's crop, AugCSE's RandomCrop with `--rate 0.1`). The place is uniform.

Differences from the originals: the mark that ends the sentence, spacing and case survive, the first word
that is kept begins with a capital if the sentence did, and the draw is the row's own.
"""

from dataclasses import dataclass

from augment_cli.augmentations.eda.random_words import COLUMNS, crops, deletion_outcome
from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits


@dataclass(frozen=True)
class CropParameters:
    """Parameters of cropping."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words that go")
    part: str = parameter(
        "window", "keep one stretch (window) or cut one out (gap)", choices=("window", "gap")
    )


def _run(parameters: CropParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("crop")
    words = Words.of(rows.code_points)
    removed = crops(words, rows.row_ids, key, parameters.rate, parameters.part)
    return deletion_outcome(words, removed)


CROP = Augmentation(
    name="crop",
    version=4,
    kind="positive",
    paper="baseline of Gao et al. 2021 (SimCSE), Mao et al. 2022 (SDA) and Tang et al. 2022 (AugCSE)",
    parameters=CropParameters,
    prepare=prepared(_run),
    columns=COLUMNS,
    examples=("augment-cli crop --rate 0.2", "augment-cli crop --rate 0.1 --part gap --name gap"),
    meaning="possibly altered",
    entailment=("neither", "what is cut out is no longer said"),
)
