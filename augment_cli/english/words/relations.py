"""WordNet's synonyms and antonyms as relations between readings and forms."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow.compute as pc

from augment_cli.english.words import lexical
from augment_cli.resources.wordnet import ADJECTIVE, ADVERB, NOUN, VERB, load_wordnet

# A synonym is likely where both words mean the synset in at least this share, multiplied, and where the
# tagged texts have both in this sense: without the second, `families` become `menages`.
LEAST_WEIGHT = 0.2
LEAST_COUNT = 3
# A word has an antonym only in a sense that makes up this share of its uses.
LEAST_SHARE = 0.2
ANTONYM_PARTS = frozenset({ADJECTIVE, ADVERB})
_SENSES_JUDGED = frozenset({NOUN, VERB})


@lru_cache(maxsize=2)
def synonyms(senses: str) -> lexical.Relation:
    """Readings and the forms of their synonyms."""
    wordnet = load_wordnet()
    everything = np.arange(len(wordnet.sense_entries))
    sense, other = wordnet.synset_senses.expand(wordnet.sense_synsets)
    different = wordnet.sense_entries[everything[sense]] != wordnet.sense_entries[other]
    sense, other = sense[different], other[different]
    if senses == "any":
        weights = np.ones(len(sense))
    else:
        known = np.minimum(wordnet.sense_counts[sense], wordnet.sense_counts[other]) >= LEAST_COUNT
        sense, other = sense[known], other[known]
        weights = wordnet.sense_shares[sense] * wordnet.sense_shares[other]
    pairs = wordnet.sense_entries[sense].astype(np.int64) * len(wordnet.lemmas) + wordnet.sense_entries[other]
    distinct, inverse = np.unique(pairs, return_inverse=True)
    summed = np.bincount(inverse, weights, len(distinct))
    if senses == "any":
        summed[:] = 1.0
    if senses == "frequent":
        # Nouns and verbs of several senses: those that the two words share must be most of what is meant.
        shared = np.bincount(inverse, wordnet.sense_shares[sense], len(distinct))
        part = wordnet.entry_parts[distinct // len(wordnet.lemmas)]
        likely = (summed >= LEAST_WEIGHT) & (
            (shared >= lexical.DOMINANT_SHARE) | ~np.isin(part, list(_SENSES_JUDGED))
        )
    else:
        likely = np.ones(len(distinct), bool)
    distinct, summed = distinct[likely], summed[likely]
    return lexical.inflected_relation(
        wordnet, "synonym", distinct // len(wordnet.lemmas), distinct % len(wordnet.lemmas), summed
    )


@lru_cache(maxsize=1)
def antonyms() -> lexical.Relation:
    """Readings of adjectives and adverbs, and the antonym of their most frequent sense that has one."""
    wordnet = load_wordnet()
    sense, other = wordnet.antonyms.expand(np.arange(len(wordnet.sense_entries)))
    part = wordnet.entry_parts[wordnet.sense_entries[sense]]
    keep = np.isin(part, list(ANTONYM_PARTS)) & (wordnet.sense_shares[sense] >= LEAST_SHARE)
    # nonmodern, nonmetamorphic: dictionaries have them, texts hardly ever.
    keep &= ~pc.starts_with(wordnet.spellings, "non").to_numpy(zero_copy_only=False)[other]
    sense, other = sense[keep], other[keep]
    relation = lexical.inflected_relation(
        wordnet,
        "antonym",
        wordnet.sense_entries[sense],
        wordnet.sense_entries[other],
        wordnet.sense_shares[sense] * (1 + wordnet.sense_counts[other]),
    )
    return lexical.draw_first(relation)
