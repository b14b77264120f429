"""Replacing words by others from WordNet: relations between readings and forms, draws, edits.

Everything is prepared once as tables over WordNet's inflected forms: which forms may take the place of a
reading (`readings.py`) in the same inflection. Some rows are then some lookups and one draw for each word.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Resources, avoided_digest, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits
from augment_cli.english.words.readings import entry_numbers, readings
from augment_cli.resources import load_collocations, word_list_digests, word_set, word_table
from augment_cli.resources.wordnet import (
    ADJECTIVE,
    ADVERB,
    NOUN,
    PART_LETTERS,
    TAGS,
    VERB,
    Groups,
    WordNet,
    load_wordnet,
    wordnet_digest,
)
from augment_cli.text.spans import offsets_from_lengths

# Only a word whose sense makes up this share of its uses is replaced by that sense's words. No method that
# chooses a sense by its sentence did better than the first sense (benchmarks/results/words.md),
# so words without a sense that dominates are left alone.
DOMINANT_SHARE = 0.5
# Of a word and its neighbours (`Collocations.fit`): a third as often as the replaced word's would have it.
LEAST_FIT = -1.1


@dataclass(frozen=True)
class Relation:
    """For each reading the forms that may replace it, with weights."""

    offsets: np.ndarray
    targets: np.ndarray  # forms; those of reading r are targets[offsets[r]:offsets[r+1]]
    weights: np.ndarray  # in proportion to the probability of each among those of its reading

    @property
    def owners(self) -> np.ndarray:
        """int64 (T,): the reading of each target."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def where(self, kept: np.ndarray) -> "Relation":
        """Some of the targets, by a bool mask or by indices."""
        counts = np.bincount(self.owners[kept], minlength=len(self.offsets) - 1)
        return Relation(offsets_from_lengths(counts), self.targets[kept], self.weights[kept])

    @cached_property
    def _sums(self) -> np.ndarray:
        return np.append(0.0, np.cumsum(self.weights))

    def draw(self, owners: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """One target for each reading (m,), each with at least one; int32 (m,)."""
        low, high = self.offsets[owners], self.offsets[owners + 1]
        aim = self._sums[low] + uniforms * (self._sums[high] - self._sums[low])
        place = np.clip(np.searchsorted(self._sums, aim, "right") - 1, low, high - 1)
        return self.targets[place]


@lru_cache(maxsize=1)
def _is_usable(wordnet: WordNet) -> np.ndarray:
    """bool (F,): forms that may stand for another word: three letters or more, no function word."""
    barred = pa.concat_arrays([word_set("function_words"), word_set("avoided_words")])
    usable = pc.match_substring_regex(wordnet.forms, r"^[a-z]+(-[a-z]+)*$")
    usable = pc.and_(usable, pc.greater(pc.utf8_length(wordnet.forms), 2))
    unusable = pc.or_(pc.is_in(wordnet.forms, barred), pc.match_substring_regex(wordnet.forms, r"^[ivxlc]+$"))
    return pc.and_not(usable, unusable).to_numpy(zero_copy_only=False)


@lru_cache(maxsize=1)
def _readings_of_entries() -> Groups:
    """From an entry to the readings of its forms."""
    table = readings()
    return Groups.by_owner(
        table.entries, np.arange(len(table.forms), dtype=np.int32), len(load_wordnet().lemmas)
    )


@lru_cache(maxsize=8)
def _avoided_pairs(relation: str) -> np.ndarray:
    """Sorted keys source·E + target of the pairs of entries that `words/avoided_pairs.txt` names."""
    entries, keys = entry_numbers(), []
    for name, letter, word, *others in word_table("avoided_pairs"):
        if name == relation:
            part = PART_LETTERS.index(letter)
            keys += [entries[word, part] * len(entries) + entries[other, part] for other in others]
    return np.sort(np.array(keys, np.int64))


def inflected_relation(
    wordnet: WordNet, name: str, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Relation:
    """Carry a relation between entries over to readings and forms, so that inflection is kept."""
    # A reading of a source goes to the usual form of the target that serves every tag of the reading:
    # `walked`, past tense or participle, to `strolled` but not to `went`; as a past tense to both.
    # A pair of entries may stand there several times.
    table = readings()
    known = np.isin(sources.astype(np.int64) * len(wordnet.lemmas) + targets, _avoided_pairs(name))
    sources, targets, weights = sources[~known], targets[~known], weights[~known]
    pair, reading = _readings_of_entries().expand(sources)
    second, other = wordnet.entry_forms.expand(targets[pair])
    reading, weight = reading[second], weights[pair][second]
    bits = table.bits[reading]
    # lemminflect lists mass nouns, and many others, as their own plural: what can be singular is.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~np.int16(TAGS["NNS"]), bits)
    serves = (wordnet.form_first[other] & bits) == bits
    serves &= (bits & TAGS["NNS"] == 0) | _has_plural(wordnet)[other]
    serves &= _is_usable(wordnet)[other]
    spelled = wordnet.forms.dictionary_encode().indices.to_numpy()
    serves &= spelled[table.forms[reading]] != spelled[other]
    reading, other, weight = reading[serves], other[serves], weight[serves]
    # The same pair through several synsets counts once, with the sum of its weights.
    key = reading.astype(np.int64) * len(wordnet.forms) + other
    distinct, inverse = np.unique(key, return_inverse=True)
    weight = np.bincount(inverse, weight, len(distinct))
    reading, other = distinct // len(wordnet.forms), distinct % len(wordnet.forms)
    counts = np.bincount(reading, minlength=len(table.forms))
    return Relation(offsets_from_lengths(counts), other.astype(np.int32), weight)


@lru_cache(maxsize=1)
def _has_plural(wordnet: WordNet) -> np.ndarray:
    """bool (F,): forms that can stand for several things: no singular, no mass noun (`informations`)."""
    mass = pc.is_in(wordnet.lemmas, word_set("mass_nouns")).to_numpy(zero_copy_only=False)
    return (wordnet.form_bits & TAGS["NN"] == 0) & ~mass[wordnet.form_entries]


def without(relation: Relation, words: pa.StringArray) -> Relation:
    """The relation without some words as targets."""
    avoided = pc.is_in(load_wordnet().forms, words).to_numpy(zero_copy_only=False)
    kept = ~avoided[relation.targets]
    return relation if kept.all() else relation.where(kept)


def listed(relation: Relation, name: str) -> Relation:
    """The pairs of a relation that a list (part of speech, lemma, others) has."""
    wordnet = load_wordnet()
    pairs = {(letter, word, other) for letter, word, others in word_table(name) for other in others.split()}
    owners = relation.owners
    sources, targets = wordnet.form_entries[readings().forms[owners]], wordnet.form_entries[relation.targets]
    lemmas, parts = wordnet.lemmas.to_pylist(), wordnet.entry_parts
    kept = np.array(
        [
            (PART_LETTERS[parts[source]], lemmas[source], lemmas[target]) in pairs
            for source, target in zip(sources.tolist(), targets.tolist(), strict=True)
        ],
        bool,
    )
    return relation.where(kept)


def draw_first(relation: Relation) -> Relation:
    """The relation with only the heaviest target of each reading, the alphabetically first of equals."""
    owners = relation.owners
    order = np.lexsort((relation.targets, -relation.weights, owners))
    return relation.where(order[np.append(True, np.diff(owners) > 0)] if len(order) else order)


def digests() -> dict[str, str]:
    """Digests of the tables and lists behind a lexical replacement."""
    lists = ("function_words", "avoided_words", "avoided_pairs", "fixed_phrases", "mass_nouns", "vague_nouns")
    return {"wordnet": wordnet_digest()} | word_list_digests(*lists)


resolve = with_digests(digests)


def resolve_avoiding(parameters: Any, resources: Resources) -> dict[str, Any]:
    """As `resolve`, for parameters with the field `avoid`: its words by digest."""
    return resolve(parameters, resources) | {"avoid": avoided_digest(parameters.avoid)}


@dataclass(frozen=True)
class Replacer:
    """Replace chosen words through a relation; draws with a key of its own."""

    relation: Relation
    key: int

    def eligible(self, reading: np.ndarray) -> np.ndarray:
        """bool (N,): words, by their readings (N,), with something to put in their place."""
        lengths = np.diff(self.relation.offsets)
        return (reading >= 0) & (lengths[np.maximum(reading, 0)] > 0)

    def fitting(
        self, rows: Rows, words: Words, reading: np.ndarray, eligible: np.ndarray, least: int = 0
    ) -> np.ndarray:
        """bool (N,): eligible words whose replacements go with their neighbours as they do themselves."""
        # With `least`, replacements must also have been met that often beside each of the two neighbours.
        index = np.flatnonzero(eligible)
        if not len(index):
            return eligible
        table = load_collocations()
        codes, distinct = words.lower
        numbers = np.array([table.number(word) for word in distinct.to_pylist()], np.int64)[codes]
        new = pc.utf8_lower(self.strings(rows, words, reading, index)).to_pylist()
        last = len(words) - 1
        behind = np.minimum(index + 1, last)
        left = np.where(words.follows_space[index], numbers[index - 1], -1)
        right = np.where(words.follows_space[behind] & (behind > index), numbers[behind], -1)
        arrived = np.array([table.number(word) for word in new], np.int64)
        fits = np.zeros(len(words), bool)
        fits[index] = table.fit(numbers[index], arrived, left, right) >= LEAST_FIT
        fits[index] &= (left < 0) | (table.together(left, arrived) >= least)
        fits[index] &= (right < 0) | (table.together(arrived, right) >= least)
        return fits

    def strings(self, rows: Rows, words: Words, reading: np.ndarray, index: np.ndarray) -> pa.StringArray:
        """Replacements of the words `index` (m,), in their case."""
        draws = uniform(self.key, rows.row_ids[words.rows[index]], words.positions[index])
        targets = self.relation.draw(reading[index], draws)
        plain = load_wordnet().forms.take(pa.array(targets))
        return word_edits.in_case_of(words, index, plain)

    def outcome(
        self, rows: Rows, words: Words, reading: np.ndarray, index: np.ndarray, reasons: np.ndarray
    ) -> Outcome:
        """Edits that replace the words `index`, with the number replaced."""
        edits = word_edits.replace_words(words, index, self.strings(rows, words, reading, index))
        replaced = np.bincount(words.rows[index], minlength=len(rows))
        return Outcome(edits, reasons, word_edits.count_columns(replaced=replaced, words=words.counts))


COLUMNS = word_edits.count_fields("replaced", "words")


# A synonym is likely where both words mean the synset in at least this share, multiplied, and where the
# tagged texts have both in this sense: without the second, `families` become `menages`.
LEAST_WEIGHT = 0.2
LEAST_COUNT = 3
# A word has an antonym of WordNet only in a sense that makes up this share of its uses.
LEAST_SHARE = 0.2
_SENSES_JUDGED = frozenset({NOUN, VERB})


@lru_cache(maxsize=2)
def synonyms(senses: str) -> Relation:
    """Readings and the forms of their synonyms."""
    wordnet = load_wordnet()
    sense, other = wordnet.synset_senses.expand(wordnet.sense_synsets)
    different = wordnet.sense_entries[sense] != wordnet.sense_entries[other]
    sense, other = sense[different], other[different]
    if senses == "frequent":
        known = np.minimum(wordnet.sense_counts[sense], wordnet.sense_counts[other]) >= LEAST_COUNT
        sense, other = sense[known], other[known]
    weights = wordnet.sense_shares[sense] * wordnet.sense_shares[other]
    pairs = wordnet.sense_entries[sense].astype(np.int64) * len(wordnet.lemmas) + wordnet.sense_entries[other]
    distinct, inverse = np.unique(pairs, return_inverse=True)
    summed = np.bincount(inverse, weights, len(distinct))
    if senses == "any":
        summed[:] = 1.0
    else:
        # Nouns and verbs of several senses: those that the two words share must be most of what is meant.
        shared = np.bincount(inverse, wordnet.sense_shares[sense], len(distinct))
        part = wordnet.entry_parts[distinct // len(wordnet.lemmas)]
        likely = (shared >= DOMINANT_SHARE) | ~np.isin(part, list(_SENSES_JUDGED))
        likely &= summed >= LEAST_WEIGHT
        distinct, summed = distinct[likely], summed[likely]
    sources, targets = np.divmod(distinct, len(wordnet.lemmas))
    return inflected_relation(wordnet, "synonym", sources, targets, summed)


@lru_cache(maxsize=1)
def antonyms() -> Relation:
    """Readings of adjectives and adverbs, and the opposite of each in `words/opposite_words.txt`."""
    wordnet, entries = load_wordnet(), entry_numbers()
    pairs = [
        tuple(entries[lemma, PART_LETTERS.index(letter)] for lemma in (word, other))
        for letter, word, other, *_ in word_table("opposite_words")
    ]
    sources, targets = np.array(pairs, np.int64).T
    return draw_first(inflected_relation(wordnet, "antonym", sources, targets, np.ones(len(sources))))


@lru_cache(maxsize=1)
def wordnet_antonyms() -> Relation:
    """Readings of adjectives and adverbs, and the antonym of their most frequent sense that has one."""
    wordnet = load_wordnet()
    sense, other = wordnet.antonyms.expand(np.arange(len(wordnet.sense_entries)))
    entries, shares = wordnet.sense_entries, wordnet.sense_shares
    keep = np.isin(wordnet.entry_parts[entries[sense]], [ADJECTIVE, ADVERB]) & (shares[sense] >= LEAST_SHARE)
    # nonmodern, nonmetamorphic: dictionaries have them, texts hardly ever.
    keep &= ~pc.starts_with(wordnet.spellings, "non").to_numpy(zero_copy_only=False)[other]
    sense, other = sense[keep], other[keep]
    weights = shares[sense] * (1 + wordnet.sense_counts[other])
    return draw_first(inflected_relation(wordnet, "antonym", entries[sense], entries[other], weights))
