"""Replace a noun by its WordNet hypernym: `servant` by `worker`.

AugCSE's ReplaceHypernyms: one noun of each sentence, drawn among those with a hypernym. The hypernym is
looked for upwards from the noun's most frequent sense, at most `--height` steps; phrases and the top of
the hierarchy (`entity`, `object`, `whole`, …) are passed over.

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, the noun is drawn for each sentence instead of by one fixed seed, and no
language model filters the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from augment_cli.augmentations import lexical, word_edits
from augment_cli.augmentations.base import (
    Augmentation,
    Prepared,
    Resources,
    check_parameters,
    parameter,
)
from augment_cli.augmentations.lexical_noun import noun_outcome, plain_words_of, resolve
from augment_cli.resources.wordnet import NOUN, load_wordnet

# Above these synsets' distance from the root, words say nothing: entity, object, whole, matter, ….
_LEAST_DEPTH = 4


@dataclass(frozen=True)
class HypernymParameters:
    """Parameters of hypernym replacement."""

    rate: float = word_edits.rate_parameter(0.0, "share of the words to replace; 0 for one noun")
    height: int = parameter(2, "at most so many steps up", minimum=1, maximum=10)


@lru_cache(maxsize=4)
def hypernyms(height: int) -> lexical.Relation:
    """Forms of nouns and those of the nearest one-word hypernyms of their first sense."""
    wordnet = load_wordnet()
    depth = wordnet.depths
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    place, synset = entries, wordnet.sense_synsets[wordnet.entry_senses[entries]]
    sources, targets = [], []
    for _ in range(height):
        index, synset = wordnet.hypernyms.expand(synset)
        place = place[index]
        deep = depth[synset] >= _LEAST_DEPTH
        place, synset = place[deep], synset[deep]
        found, entry = plain_words_of(synset)
        different = entry != place[found]
        sources.append(place[found][different])
        targets.append(entry[different])
        # Only those still without a hypernym climb on.
        rest = ~np.isin(place, np.concatenate(sources))
        place, synset = place[rest], synset[rest]
    pairs = np.concatenate(sources), np.concatenate(targets)
    return lexical.inflected_relation(wordnet, *pairs, wordnet.entry_counts[pairs[1]])


def _prepare(parameters: HypernymParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    replacer = lexical.make_replacer("hypernym", resources, hypernyms(parameters.height))
    return noun_outcome(replacer, resources.key("hypernym/word"), parameters.rate)


HYPERNYM = Augmentation(
    name="hypernym",
    version=1,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (ReplaceHypernyms); WordNet 3.0",
    needs=frozenset(),
    parameters=HypernymParameters,
    prepare=_prepare,
    columns=lexical.COLUMNS,
    resolve=resolve,
    examples=("augment-cli hypernym", "augment-cli hypernym --height 1 --rate 0.1"),
    meaning="altered",
)
