"""Replace a noun by its WordNet hypernym: `violinist` by `musician`.

AugCSE's ReplaceHypernyms: one noun of each sentence, drawn among those with a hypernym. The hypernym is
looked for upwards from the noun's most frequent sense, at most `--height` steps; phrases, the top of the
hierarchy (`entity`, `object`, …) and other nouns that say nothing (`words/vague_nouns.txt`) are passed over,
and so is what is no kind of things or people (`words/category_nouns.txt`): anger for rage says the same,
and organs for eyes nothing sound. Pairs of other senses are left out (`words/avoided_noun_pairs.txt`).

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, the noun is drawn for each sentence instead of by one fixed seed, and no
language model filters the choice. What is a noun says the parse, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow.compute as pc

from augment_cli.augmentations.words.shared import lexical
from augment_cli.augmentations.words.shared.lexical_noun import (
    NounParameters,
    first_senses,
    noun_augmentation,
    noun_relation,
    plain_words_of,
)
from augment_cli.contract.parameters import parameter
from augment_cli.resources.word_lists import word_set
from augment_cli.resources.wordnet import load_wordnet

# Above these synsets' distance from the root, words say nothing: entity, object, whole, matter, ….
_LEAST_DEPTH = 4


@dataclass(frozen=True)
class HypernymParameters(NounParameters):
    """Parameters of hypernym replacement."""

    height: int = parameter(2, "at most so many steps up", minimum=1, maximum=10)


@lru_cache(maxsize=4)
def hypernyms(height: int) -> lexical.Relation:
    """Readings of nouns and the forms of the nearest one-word hypernyms of their first sense."""
    wordnet = load_wordnet()
    depth = wordnet.depths
    vague = pc.is_in(wordnet.lemmas, word_set("vague_nouns")).to_numpy(zero_copy_only=False)
    place, synset = first_senses()
    sources, targets = [], []
    for _ in range(height):
        index, synset = wordnet.hypernyms.expand(synset)
        place = place[index]
        deep = depth[synset] >= _LEAST_DEPTH
        place, synset = place[deep], synset[deep]
        origin, entry = plain_words_of(synset)
        different = (entry != place[origin]) & ~vague[entry]
        sources.append(place[origin][different])
        targets.append(entry[different])
        # Only those still without a hypernym climb on.
        rest = ~np.isin(place, np.concatenate(sources))
        place, synset = place[rest], synset[rest]
    return noun_relation("hypernym", np.concatenate(sources), np.concatenate(targets))


HYPERNYM = noun_augmentation(
    "hypernym",
    "ReplaceHypernyms",
    HypernymParameters,
    lambda parameters: hypernyms(parameters.height),
    ("augment-cli hypernym", "augment-cli hypernym --height 1 --rate 0.1"),
    "the sentence entails the more general one, not the reverse",
)
