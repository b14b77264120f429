"""Positives: put one random English punctuation mark into a random gap (baseline of punctuation insertion).

Mao et al. 2022 (SDA), Table 7. The paper names the pool, all English punctuation, and neither number nor
places: one mark for each sentence, as PI makes one insertion, at a gap drawn uniformly.
"""

import string

import numpy as np

from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, pick
from augment_cli.text.spans import EditList

_SPACES = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    mark_key, gap_key = (resources.key(f"random-punctuation/{what}") for what in ("mark", "gap"))
    marks = list(string.punctuation)
    owners, places = _gaps(rows)
    gaps = np.bincount(owners, minlength=len(rows))
    first, chosen = np.cumsum(gaps) - gaps, np.flatnonzero(gaps)
    zeros, row_ids = np.zeros(len(chosen), np.int64), rows.row_ids[chosen]
    at = places[first[chosen] + pick(uniform(gap_key, row_ids, zeros), gaps[chosen])]
    edits = EditList()
    edits.replace(chosen, at, at, marks, pick(uniform(mark_key, row_ids, zeros), len(marks)))
    return Outcome(edits.edits(), np.full(len(rows), Reason.NO_TOKEN, object))


def _gaps(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Row and place (code point in its text) behind every word: where white space or the end follows."""
    texts = rows.code_points
    lengths = np.diff(texts.offsets)
    owner = np.repeat(np.arange(len(rows)), lengths)
    is_word = ~np.isin(texts.values, _SPACES)
    ends = np.append(~is_word[1:], True)[: len(is_word)]
    ends[(texts.offsets[1:] - 1)[lengths > 0]] = True
    positions = np.flatnonzero(is_word & ends)
    owners = owner[positions]
    return owners, positions + 1 - texts.offsets[:-1][owners]


RANDOM_PUNCTUATION = Augmentation(
    name="random-punctuation",
    version=1,
    kind="positive",
    paper="Mao et al. 2022, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    prepare=prepared(_run),
    examples=("augment-cli random-punctuation", "augment-cli random-punctuation --draws 3"),
)
