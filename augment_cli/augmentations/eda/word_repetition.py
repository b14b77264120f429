"""Repeat words: each chosen word stands twice (ESimCSE's positives, at word level).

The number of repeated words is uniform in 0 … max(1, min(10, ⌊rate·words⌋) − 1), where ESimCSE draws from
0 … min(10, ⌊rate·len⌋) − 1; positions are drawn without replacement.

Differences from the original: words instead of sub-word tokens, since an augmentation knows no
tokeniser, so punctuation and word parts are never doubled; a sentence too short for a repetition
still may get one; the copy of a word that begins the sentence with a capital is in lower case unless
it is a name.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits
from augment_cli.english.words.word_edits import lower_first_words


@dataclass(frozen=True)
class RepetitionParameters:
    """Parameters of word repetition."""

    rate: float = word_edits.rate_parameter(0.32, "duplication rate; ESimCSE has 0.32 and 0.30")
    maximum: int = parameter(10, "the cap on rate·words", minimum=1)


def repeat_counts(words: np.ndarray, uniforms: np.ndarray, rate: float, maximum: int) -> np.ndarray:
    """int64 (n,): how many of `words` (n,) words to repeat, from one uniform draw each."""
    if rate == 0:
        return np.zeros(len(words), np.int64)
    highest = np.maximum(np.minimum(maximum, (rate * words).astype(np.int64)) - 1, 1)
    return np.minimum((uniforms * (highest + 1)).astype(np.int64), words)


def _run(parameters: RepetitionParameters, resources: Resources, rows: Rows) -> Outcome:
    count_key, word_key = resources.key("word-repetition/count"), resources.key("word-repetition/word")
    words = Words.of(rows.code_points)
    counts = words.counts
    uniforms = uniform(count_key, rows.row_ids, np.zeros(len(counts), np.int64))
    wanted = repeat_counts(counts, uniforms, parameters.rate, parameters.maximum)
    draws = uniform(word_key, rows.row_ids[words.rows], words.positions)
    chosen = np.flatnonzero(word_edits.ranks_within(words.rows, draws) < wanted[words.rows])
    copies = lower_first_words(words, chosen)
    inserted = pc.binary_join_element_wise("", copies, " ")
    edits = word_edits.edits_of(
        words, words.rows[chosen], words.flat_ends[chosen], words.flat_ends[chosen], inserted
    )
    reasons = np.where(counts == 0, Reason.NO_TOKEN, Reason.NO_POSITION_DRAWN)
    repeated = np.bincount(words.rows[chosen], minlength=len(counts))
    return Outcome(edits, reasons, word_edits.count_columns(repeated=repeated, words=counts))


WORD_REPETITION = Augmentation(
    name="word-repetition",
    version=1,
    kind="positive",
    paper="Wu et al. 2022, ESimCSE; baseline of Mao et al. 2022 (SDA)",
    parameters=RepetitionParameters,
    prepare=prepared(_run),
    columns=word_edits.count_fields("repeated", "words"),
    examples=("augment-cli word-repetition", "augment-cli word-repetition --rate 0.3 --draws 3"),
)
