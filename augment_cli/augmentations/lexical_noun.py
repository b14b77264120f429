"""What replacing nouns by wider and narrower ones shares."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations import lexical, word_edits
from augment_cli.augmentations.base import Batch, Outcome, Prepared, Resources
from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.words import Words

# A word stands for a synset only if the synset is one of its usual senses, and one met in tagged texts:
# without the second a week becomes a shiva and a son a man-child.
LEAST_SHARE = 0.3
LEAST_COUNT = 1


def plain_words_of(synsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(position in `synsets`, entry) of the lower-case single words whose usual sense each synset is."""
    wordnet = load_wordnet()
    place, sense = wordnet.synset_senses.expand(synsets)
    entry = wordnet.sense_entries[sense]
    spellings = wordnet.spellings.take(pa.array(sense))
    lower = pc.match_substring_regex(spellings, r"^[a-z]+(-[a-z]+)*$").to_numpy(zero_copy_only=False)
    usual = lower & (wordnet.sense_shares[sense] >= LEAST_SHARE)
    usual &= wordnet.sense_counts[sense] >= LEAST_COUNT
    return place[usual], entry[usual]


def resolve(parameters: Any, resources: Resources) -> dict[str, Any]:
    """Parameters and the digests of the tables."""
    return dataclasses.asdict(parameters) | lexical.resources_of_words()


def noun_outcome(replacer: lexical.Replacer, key: int, rate: float) -> Prepared:
    """Replace ⌈rate·words⌉ nouns of each text, or one where the rate is 0."""

    def run(batch: Batch) -> Outcome:
        words = Words.of(batch.code_points)
        forms = lexical.form_of_each_word(words, frozenset({NOUN}))
        eligible = replacer.eligible(forms)
        index = word_edits.choose(words, batch.row_ids, eligible, key, rate or 1e-6)
        return replacer.outcome(batch, words, forms, index, word_edits.reasons_for(words, eligible))

    return run
