"""What replacing nouns by wider and narrower ones shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.words.shared import lexical, word_edits
from augment_cli.augmentations.words.shared.readings import reading_of_each_word
from augment_cli.augmentations.words.shared.words import Words
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.avoiding import avoid_parameter, avoided_words
from augment_cli.contract.parameters import parts_of_speech_parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.resources.word_lists import word_list, word_list_digests, word_table
from augment_cli.resources.wordnet import NOUN, load_wordnet

# A word stands for a synset only if the synset is what it mostly means, and is met in tagged texts: without
# the first evidence becomes a symptom, without the second a week becomes a shiva and a son a man-child.
LEAST_SHARE = lexical.DOMINANT_SHARE
LEAST_COUNT = 8
_LISTS = ("category_nouns", "avoided_noun_pairs")


@dataclass(frozen=True)
class NounParameters:
    """Parameters that both have."""

    rate: float = word_edits.rate_parameter(0.0, "share of the words to replace; 0 for one noun")
    parts_of_speech: str = parts_of_speech_parameter()
    avoid: str = avoid_parameter()


def first_senses() -> tuple[np.ndarray, np.ndarray]:
    """Entries of the nouns whose most frequent sense dominates, and the synset of that sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    first = wordnet.entry_senses[entries]
    dominates = wordnet.sense_shares[first] >= lexical.DOMINANT_SHARE
    return entries[dominates], wordnet.sense_synsets[first[dominates]]


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


def noun_relation(name: str, sources: np.ndarray, targets: np.ndarray) -> lexical.Relation:
    """Pairs of entries (m,) as a relation of readings and forms, the more frequent a target the heavier.

    The wider noun of a pair is one of the list of categories (animal, weapon), and the pair is not avoided.

    Parameters
    ----------
    name : {"hypernym", "hyponym"}
    sources, targets : ndarray of int, shape (m,)
    """
    wordnet = load_wordnet()
    avoided = {
        (noun, other)
        for relation, noun, *others in word_table("avoided_noun_pairs")
        if relation == name
        for other in others
    }
    nouns, others = (wordnet.lemmas.take(pa.array(entries)).to_pylist() for entries in (sources, targets))
    categories = set(word_list("category_nouns"))
    kept = [
        (other if name == "hypernym" else noun) in categories and (noun, other) not in avoided
        for noun, other in zip(nouns, others, strict=True)
    ]
    sources, targets = sources[kept], targets[kept]
    return lexical.inflected_relation(wordnet, name, sources, targets, wordnet.entry_counts[targets])


def _resolve(parameters: Any, resources: Resources) -> dict[str, Any]:
    return lexical.resolve_avoiding(parameters, resources) | word_list_digests(*_LISTS)


def noun_augmentation(
    name: str,
    method: str,
    parameters: type,
    relation: Callable[[Any], lexical.Relation],
    examples: tuple[str, ...],
    reason: str,
) -> Augmentation:
    """The descriptor of one that replaces ⌈rate·words⌉ nouns of each text, or one where the rate is 0."""

    def prepare(parameters: Any, resources: Resources) -> Prepared:
        targets = lexical.without(relation(parameters), avoided_words(parameters.avoid))
        replacer = lexical.Replacer(targets, resources.key(f"{name}/replacement"))
        key = resources.key(f"{name}/word")

        def run(rows: Rows) -> Outcome:
            words = Words.of(rows.code_points)
            reading = reading_of_each_word(words, frozenset({NOUN}), rows.parses)
            eligible = replacer.eligible(reading)
            index = word_edits.choose(words, rows.row_ids, eligible, key, parameters.rate or 1e-6)
            return replacer.outcome(rows, words, reading, index, word_edits.reasons_for(words, eligible))

        return run

    return Augmentation(
        name=name,
        version=5,
        kind="negative",
        paper=f"Tang et al. 2022, AugCSE ({method}); WordNet 3.0",
        needs=frozenset(),
        reads_parse_if_there=True,
        parameters=parameters,
        prepare=prepare,
        columns=lexical.COLUMNS,
        resolve=_resolve,
        examples=examples,
        meaning="altered",
        entailment=("neither", reason),
    )
