"""Crop a sentence: keep a contiguous stretch of its words, or cut one out.

`--part window` keeps a stretch of 100−k % of the words (crop k % of SimCSE's and SDA's tables); `--part gap`
cuts a stretch of k % out (nlpaug's crop, AugCSE's RandomCrop with `--rate 0.1`). The place is uniform.

Differences from the originals: the mark that ends the sentence, spacing and case survive, the first word
that is kept begins with a capital if the sentence did, and the draw is the row's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from augment_cli.augmentations.words.shared import word_edits
from augment_cli.augmentations.words.shared.words import Words
from augment_cli.augmentations.words.word_deletion import COLUMNS, deletion_outcome
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.contract.rows import Batch, Outcome
from augment_cli.draws import uniform


@dataclass(frozen=True)
class CropParameters:
    """Parameters of cropping."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words that go")
    part: str = parameter(
        "window", "keep one stretch (window) or cut one out (gap)", choices=("window", "gap")
    )


def crops(words: Words, row_ids: np.ndarray, key: int, rate: float, part: str) -> np.ndarray:
    """bool (N,): which words go; at least one of each text stays, at least one goes where rate > 0."""
    counts = words.counts
    gone = np.minimum(word_edits.counts_of(counts, rate, "ceil", 0), np.maximum(counts - 1, 0))
    length = counts - gone if part == "window" else gone
    places = counts - length + 1
    start = (uniform(key, row_ids, np.zeros(len(counts), np.int64)) * places).astype(np.int64)
    inside = words.positions - start[words.rows]
    inside_stretch = (inside >= 0) & (inside < length[words.rows])
    return ~inside_stretch if part == "window" else inside_stretch


def _prepare(parameters: CropParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    key = resources.key("crop")

    def run(batch: Batch) -> Outcome:
        words = Words.of(batch.code_points)
        removed = crops(words, batch.row_ids, key, parameters.rate, parameters.part)
        return deletion_outcome(words, removed)

    return run


CROP = Augmentation(
    name="crop",
    version=2,
    kind="positive",
    paper="baseline of Gao et al. 2021 (SimCSE), Zhu et al. 2022 (SDA) and Tang et al. 2022 (AugCSE)",
    needs=frozenset(),
    parameters=CropParameters,
    prepare=_prepare,
    columns=COLUMNS,
    examples=("augment-cli crop --rate 0.2", "augment-cli crop --rate 0.1 --part gap --name gap"),
    meaning="possibly altered",
)
