"""Replacing words by others from WordNet: readings of words, relations between forms, draws, edits.

Everything is prepared once as tables over WordNet's inflected forms: which form a spelling most likely
stands for, and which forms may take its place in the same inflection. A batch is then some lookups
and one draw for each chosen word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations import word_edits
from augment_cli.augmentations.base import Batch, Outcome, Resources
from augment_cli.augmentations.phrases import PhraseTable
from augment_cli.draws import uniform
from augment_cli.resources.tags import TAGS
from augment_cli.resources.word_lists import word_list, word_list_digest, word_set
from augment_cli.resources.wordnet import ADJECTIVE, ADVERB, NOUN, VERB, WordNet, load_wordnet, wordnet_digest
from augment_cli.spans import offsets_from_lengths, ranges
from augment_cli.surface import LOWER, UPPER, character_classes
from augment_cli.words import Words

ALL_PARTS = frozenset({NOUN, VERB, ADJECTIVE, ADVERB})

# What the word on the left tells about a word's part of speech.
ANYWHERE, NOMINAL, INFINITIVE, FINITE, AFTER_BE = range(5)
_CONTEXTS = {
    NOMINAL: "a an the my your his its our their every no some of in at from with without into onto between "
    "among against during through across behind beneath 's such several many few these those",
    INFINITIVE: "to can could will would shall should may might must cannot can't couldn't won't wouldn't "
    "shouldn't don't didn't doesn't do did does let's",
    FINITE: "i we they who he she it you",
    AFTER_BE: "is are was were be been being am isn't aren't wasn't weren't very more most so too quite",
}
_BASE = TAGS["VB"]
# A spelling's most likely form must have this share of its frequency: `demand`, as often a noun as a
# verb, is left alone where the word on its left does not tell.
LEAST_SHARE = 0.65
_FINITE_TAGS = TAGS["VB"] | TAGS["VBZ"]


def _context_weights(context: int, parts: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """Factor on the frequency of each form (F,) in a context."""
    weights = np.ones(len(parts))
    is_verb = parts == VERB
    is_finite = is_verb & (bits & _FINITE_TAGS > 0)
    if context == NOMINAL:
        weights[is_verb] = 0.3
        weights[is_finite] = 0.02
    elif context == INFINITIVE:
        weights[is_verb] = 0.05
        weights[is_verb & (bits & _BASE > 0)] = 10
        weights[parts == NOUN] = 0.5
    elif context == FINITE:
        weights[is_verb] = 10
        weights[parts == NOUN] = 0.3
    elif context == AFTER_BE:
        weights[is_finite] = 0.02
        weights[parts == ADJECTIVE] = 3
    return weights


@dataclass(frozen=True)
class Readings:
    """The most likely form behind each spelling.

    Attributes
    ----------
    spellings : pyarrow.StringArray, length W
    best : ndarray of int32, shape (5, W)
        For each context (ANYWHERE, NOMINAL, INFINITIVE, FINITE, AFTER_BE) the form.
    """

    spellings: pa.StringArray
    best: np.ndarray

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Place of each spelling, but for function words, which are never replaced."""
        numbers = {spelling: number for number, spelling in enumerate(self.spellings.to_pylist())}
        for word in word_list("function_words"):
            numbers.pop(word, None)
        return numbers


@lru_cache(maxsize=1)
def readings() -> Readings:
    """Readings of all spellings, by how often WordNet's tagged texts have each lemma."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    codes = encoded.indices.to_numpy()
    parts = wordnet.entry_parts[wordnet.form_entries]
    frequency = wordnet.entry_counts[wordnet.form_entries] + 0.1
    best = np.empty((5, len(encoded.dictionary)), np.int32)
    for context in range(5):
        score = frequency * _context_weights(context, parts, wordnet.form_bits)
        order = np.lexsort((-score, codes))
        first = np.searchsorted(codes[order], np.arange(len(encoded.dictionary)))
        best[context] = order[first]
        doubtful = score[best[context]] < LEAST_SHARE * np.bincount(codes, score)
        best[context, doubtful] = -1
    return Readings(encoded.dictionary, best)


@dataclass(frozen=True)
class Relation:
    """For each form the forms that may replace it, with weights.

    Attributes
    ----------
    offsets : ndarray of int64, shape (F+1,)
    targets : ndarray of int32
        Forms; those of form f are targets[offsets[f]:offsets[f+1]].
    weights : ndarray of float64
        Probability of each among those of its form.
    """

    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    def draw(self, forms: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """One target for each form (m,), each with at least one; int32 (m,)."""
        sums = np.append(0.0, np.cumsum(self.weights))
        low, high = self.offsets[forms], self.offsets[forms + 1]
        aim = sums[low] + uniforms * (sums[high] - sums[low])
        place = np.clip(np.searchsorted(sums, aim, "right") - 1, low, high - 1)
        return self.targets[place]


@lru_cache(maxsize=1)
def _is_usable(wordnet: WordNet) -> np.ndarray:
    """bool (F,): forms that may stand for another word: three letters or more, no function word."""
    forms = wordnet.forms
    usable = pc.match_substring_regex(forms, r"^[a-z]+(-[a-z]+)*$")
    usable = pc.and_(usable, pc.greater(pc.utf8_length(forms), 2))
    usable = pc.and_(usable, pc.invert(pc.is_in(forms, word_set("function_words"))))
    usable = pc.and_(usable, pc.invert(pc.is_in(forms, word_set("avoided_words"))))
    roman = pc.match_substring_regex(forms, r"^[ivxlc]+$")
    return pc.and_(usable, pc.invert(roman)).to_numpy(zero_copy_only=False)


def inflected_relation(
    wordnet: WordNet, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Relation:
    """Carry a relation between entries over to their forms, so that inflection is kept.

    A form f of a source goes to the usual form of the target that serves every tag f can have:
    `walked`, past tense and participle, to `strolled` but not to `went`.

    Parameters
    ----------
    wordnet : WordNet
    sources, targets : ndarray of int, shape (m,)
        Pairs of entries; a pair may stand there several times.
    weights : ndarray of float64, shape (m,)
        Above 0.
    """
    pair, form = wordnet.entry_forms.expand(sources)
    second, other = wordnet.entry_forms.expand(targets[pair])
    form, weight = form[second], weights[pair][second]
    bits = wordnet.form_bits[form]
    # lemminflect lists mass nouns, and many others, as their own plural: what can be singular is.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~np.int16(TAGS["NNS"]), bits)
    serves = (wordnet.form_first[other] & bits) == bits
    serves &= (bits & TAGS["NNS"] == 0) | (wordnet.form_bits[other] & TAGS["NN"] == 0)
    serves &= _is_usable(wordnet)[other]
    spelled = wordnet.forms.dictionary_encode().indices.to_numpy()
    serves &= spelled[form] != spelled[other]
    form, other, weight = form[serves], other[serves], weight[serves]
    # The same pair through several synsets counts once, with the sum of its weights.
    key = form.astype(np.int64) * len(wordnet.forms) + other
    distinct, inverse = np.unique(key, return_inverse=True)
    weight = np.bincount(inverse, weight, len(distinct))
    form, other = distinct // len(wordnet.forms), distinct % len(wordnet.forms)
    counts = np.bincount(form, minlength=len(wordnet.forms))
    return Relation(offsets_from_lengths(counts), other.astype(np.int32), weight)


def draw_first(relation: Relation) -> Relation:
    """The relation with only the heaviest target of each form, the alphabetically first of equals."""
    owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
    order = np.lexsort((relation.targets, -relation.weights, owners))
    first = order[np.append(True, np.diff(owners) > 0)] if len(order) else order
    counts = np.bincount(owners[first], minlength=len(relation.offsets) - 1)
    return Relation(offsets_from_lengths(counts), relation.targets[first], relation.weights[first])


@lru_cache(maxsize=1)
def _fixed_phrases() -> PhraseTable:
    return PhraseTable(word_list("fixed_phrases"))


def _in_fixed_phrase(words: Words) -> np.ndarray:
    """Indices of the words of fixed phrases: `for example` is no place for a hyponym."""
    matches = _fixed_phrases().find(words)
    return ranges(matches.first, matches.last - matches.first + 1)


def form_of_each_word(words: Words, parts: frozenset[int] = ALL_PARTS) -> np.ndarray:
    """int64 (N,): the most likely form of each word, −1 where it has none, is protected, or is another part.

    Function words, fixed phrases (`for example`) and words with a capital inside the sentence (names)
    are protected; so is everything in capitals.
    """
    wordnet, table = load_wordnet(), readings()
    codes, distinct = words.lower
    if not len(distinct):
        return np.zeros(0, np.int64)
    of_word = words.numbers(table.numbers)
    contexts = np.zeros(len(distinct), np.int64)
    for context, cues in _CONTEXTS.items():
        contexts[pc.is_in(distinct, pa.array(cues.split())).to_numpy(zero_copy_only=False)] = context
    left = np.zeros(len(words), np.int64)
    left[1:] = np.where(words.follows_space[1:], contexts[codes[:-1]], ANYWHERE)
    forms = np.where(of_word >= 0, table.best[left, np.maximum(of_word, 0)], -1).astype(np.int64)

    classes, values = character_classes(), words.texts.values
    capital = classes[values[words.starts]] & UPPER > 0
    protected = capital & (words.positions > 0)
    begins = np.flatnonzero(capital & (words.positions == 0) & (forms >= 0))
    if len(begins):
        lengths = words.ends[begins] - words.starts[begins]
        shouted = classes[values[np.minimum(words.starts[begins] + 1, len(values) - 1)]] & LOWER == 0
        # A capital at the beginning may be a name's: Mark, Rich. Those that are rarely met as words stay.
        rare = wordnet.entry_counts[wordnet.form_entries[forms[begins]]] < 5
        protected[begins] = shouted | (lengths < 2) | rare
    forms[protected] = -1
    forms[_in_fixed_phrase(words)] = -1
    found = np.flatnonzero(forms >= 0)
    part = wordnet.entry_parts[wordnet.form_entries[forms[found]]]
    forms[found[~np.isin(part, list(parts))]] = -1
    return forms


def resources_of_words() -> dict[str, str]:
    """Digests of the tables and lists behind a lexical replacement."""
    lists = ("function_words", "avoided_words", "fixed_phrases")
    return {"wordnet": wordnet_digest(), **{name: word_list_digest(name) for name in lists}}


@dataclass(frozen=True)
class Replacer:
    """Replace chosen words through a relation between forms."""

    relation: Relation
    key: int

    def eligible(self, forms: np.ndarray) -> np.ndarray:
        """bool (N,): words with something to put in their place."""
        lengths = np.diff(self.relation.offsets)
        return (forms >= 0) & (lengths[np.maximum(forms, 0)] > 0)

    def strings(self, batch: Batch, words: Words, forms: np.ndarray, index: np.ndarray) -> pa.StringArray:
        """Replacements of the words `index` (m,), in their case."""
        draws = uniform(self.key, batch.row_ids[words.rows[index]], words.positions[index])
        targets = self.relation.draw(forms[index], draws)
        plain = load_wordnet().forms.take(pa.array(targets))
        return word_edits.in_case_of(words, index, plain)

    def outcome(
        self, batch: Batch, words: Words, forms: np.ndarray, index: np.ndarray, reasons: np.ndarray
    ) -> Outcome:
        """Edits that replace the words `index`, with the number replaced."""
        edits = word_edits.replace_words(words, index, self.strings(batch, words, forms, index))
        replaced = np.bincount(words.rows[index], minlength=len(batch))
        return Outcome(edits, reasons, word_edits.count_columns(replaced=replaced, words=words.counts))


COLUMNS = (
    pa.field("replaced", pa.int32(), nullable=False),
    pa.field("words", pa.int32(), nullable=False),
)


def expand_pairs(offsets: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(position in `owners`, member) for members numbered offsets[o] … offsets[o+1]−1 of each owner."""
    lengths = (offsets[1:] - offsets[:-1])[owners]
    return np.repeat(np.arange(len(owners)), lengths), ranges(offsets[owners], lengths)


def make_replacer(name: str, resources: Resources, relation: Relation) -> Replacer:
    """A replacer whose draws belong to the augmentation `name`."""
    return Replacer(relation, resources.key(f"{name}/replacement"))
