"""Replace a noun by a WordNet hyponym: `bird` by `sparrow`.

AugCSE's ReplaceHyponyms: one noun of each sentence, drawn among those with a hyponym, and one of the
hyponyms of its most frequent sense, at most `--depth` steps down, drawn with probability ∝ its count in
WordNet's tagged texts.

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, noun and hyponym are drawn for each sentence instead of by one fixed seed, and
no language model filters the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from augment_cli.augmentations import lexical, word_edits
from augment_cli.augmentations.base import Augmentation, Prepared, Resources, check_parameters, parameter
from augment_cli.augmentations.lexical_noun import noun_outcome, plain_words_of, resolve
from augment_cli.resources.wordnet import NOUN, load_wordnet


@dataclass(frozen=True)
class HyponymParameters:
    """Parameters of hyponym replacement."""

    rate: float = word_edits.rate_parameter(0.0, "share of the words to replace; 0 for one noun")
    depth: int = parameter(5, "at most so many steps down", minimum=1, maximum=10)


@lru_cache(maxsize=4)
def hyponyms(depth: int) -> lexical.Relation:
    """Forms of nouns and those of the hyponyms of their first sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    place, synset = entries, wordnet.sense_synsets[wordnet.entry_senses[entries]]
    sources, targets = [], []
    for _ in range(depth):
        index, synset = wordnet.hyponyms.expand(synset)
        place = place[index]
        found, entry = plain_words_of(synset)
        sources.append(place[found])
        targets.append(entry)
    source, entry = np.concatenate(sources), np.concatenate(targets)
    keep = entry != source
    source, entry = source[keep], entry[keep]
    return lexical.inflected_relation(wordnet, source, entry, wordnet.entry_counts[entry])


def _prepare(parameters: HyponymParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    replacer = lexical.make_replacer("hyponym", resources, hyponyms(parameters.depth))
    return noun_outcome(replacer, resources.key("hyponym/word"), parameters.rate)


HYPONYM = Augmentation(
    name="hyponym",
    version=1,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (ReplaceHyponyms); WordNet 3.0",
    needs=frozenset(),
    parameters=HyponymParameters,
    prepare=_prepare,
    columns=lexical.COLUMNS,
    resolve=resolve,
    examples=("augment-cli hyponym", "augment-cli hyponym --rate 0.1"),
    meaning="altered",
)
