"""Replace a noun by a WordNet hyponym: `bird` by `sparrow`.

AugCSE's ReplaceHyponyms: one noun of each sentence, drawn among those with a hyponym, and one of the
hyponyms of its most frequent sense, at most `--depth` steps down, drawn with probability ∝ its count in
WordNet's tagged texts. The noun is one for a kind of things or people (`words/category_nouns.txt`);
pairs that say the same or mostly mean something else are left out (`words/avoided_noun_pairs.txt`).

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, noun and hyponym are drawn for each sentence instead of by one fixed seed, and
no language model filters the choice. What is a noun says the parse, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from augment_cli.augmentations.words.shared import lexical
from augment_cli.augmentations.words.shared.lexical_noun import (
    NounParameters,
    first_senses,
    noun_augmentation,
    noun_relation,
    plain_words_of,
)
from augment_cli.contract.parameters import parameter
from augment_cli.resources.wordnet import load_wordnet


@dataclass(frozen=True)
class HyponymParameters(NounParameters):
    """Parameters of hyponym replacement."""

    depth: int = parameter(5, "at most so many steps down", minimum=1, maximum=10)


@lru_cache(maxsize=4)
def hyponyms(depth: int) -> lexical.Relation:
    """Readings of nouns and the forms of the hyponyms of their first sense."""
    wordnet = load_wordnet()
    place, synset = first_senses()
    sources, targets = [], []
    for _ in range(depth):
        index, synset = wordnet.hyponyms.expand(synset)
        place = place[index]
        origin, entry = plain_words_of(synset)
        sources.append(place[origin])
        targets.append(entry)
    source, entry = np.concatenate(sources), np.concatenate(targets)
    keep = entry != source
    source, entry = source[keep], entry[keep]
    return noun_relation("hyponym", source, entry)


HYPONYM = noun_augmentation(
    "hyponym",
    "ReplaceHyponyms",
    HyponymParameters,
    lambda parameters: hyponyms(parameters.depth),
    ("augment-cli hyponym", "augment-cli hyponym --rate 0.1"),
    "the more special sentence entails the original, not the reverse",
)
