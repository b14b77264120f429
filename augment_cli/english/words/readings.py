"""Which form of which WordNet entry a word is: by its part of speech in a parse, or by the words alone.

A *reading* is a form in all the tags it can have (`walked`, past tense or participle), or in one of them, as
a parse tells it. Without a parse the most likely form is taken, by WordNet's counts and the word on the left.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english.words import PhraseTable, Words
from augment_cli.resources import word_list
from augment_cli.resources.wordnet import ADJECTIVE, ADVERB, NOUN, TAGS, VERB, load_wordnet
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import ranges
from augment_cli.text.surface import LOWER, character_classes

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
_CUES = pa.array([cue for cues in _CONTEXTS.values() for cue in cues.split()])
_CONTEXT_OF_CUE = np.repeat([*_CONTEXTS, ANYWHERE], [*(len(cues.split()) for cues in _CONTEXTS.values()), 1])
_BASE = TAGS["VB"]
# A spelling's most likely form must have this share of its frequency: `demand`, as often a noun as a
# verb, is left alone where the word on its left does not tell.
LEAST_SHARE = 0.65
_TAG_PLACES = {tag: place for place, tag in enumerate(TAGS)}
_TAG_PLACES["VBP"] = _TAG_PLACES["VB"]
_FINITE_TAGS = TAGS["VB"] | TAGS["VBZ"]

_PARTS = {"NOUN": NOUN, "VERB": VERB, "ADJ": ADJECTIVE, "ADV": ADVERB}
_PART_OF_TAG = {"N": NOUN, "V": VERB, "J": ADJECTIVE, "R": ADVERB}
# A verb with its particle, parts of a compound (`source code`, `stem cell`) and of fixed expressions mean
# something together that no synonym of one word means.
_PARTICLES = frozenset({"compound:prt", "prt"})
_COMPOUNDS = frozenset({"compound", "nn", "flat", "fixed", "goeswith", "flat:foreign", "foreign"})


# Factors on the frequency of the forms of some kinds, in each context; of several the last counts.
_WEIGHTS = {
    ANYWHERE: {},
    NOMINAL: {"verb": 0.3, "finite": 0.02},
    INFINITIVE: {"verb": 0.05, "base": 10, "noun": 0.5},
    FINITE: {"verb": 10, "noun": 0.3},
    AFTER_BE: {"finite": 0.02, "adjective": 3},
}


@dataclass(frozen=True)
class Readings:
    """All R readings of WordNet's forms, and which of them a spelling most likely has.

    Readings 0 … F−1 are the F forms in all their tags, the others forms of several tags in one of them.
    """

    forms: np.ndarray
    bits: np.ndarray  # the tags it may have (bits of `wordnet.TAGS`)
    spellings: pa.StringArray
    # for each context (ANYWHERE, NOMINAL, INFINITIVE, FINITE, AFTER_BE) the reading, −1 where doubtful
    by_context: np.ndarray
    by_tag: np.ndarray  # for each tag the reading, −1 where the spelling cannot have it
    by_part: np.ndarray  # for NOUN, VERB, ADJECTIVE and ADVERB the reading

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Place of each spelling, but for function words, which are never replaced."""
        numbers = {spelling: number for number, spelling in enumerate(self.spellings.to_pylist())}
        for word in word_list("function_words"):
            numbers.pop(word, None)
        return numbers

    @cached_property
    def entries(self) -> np.ndarray:
        """int32 (R,): the entry that each reading's form belongs to."""
        return load_wordnet().form_entries[self.forms]


@lru_cache(maxsize=1)
def readings() -> Readings:
    """Readings of all spellings, by how often WordNet's tagged texts have each lemma."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    codes = encoded.indices.to_numpy()
    parts = wordnet.entry_parts[wordnet.form_entries]
    frequency = wordnet.entry_counts[wordnet.form_entries] + 0.1
    count, width = len(codes), len(encoded.dictionary)

    kinds = {"verb": parts == VERB, "noun": parts == NOUN, "adjective": parts == ADJECTIVE}
    for kind, tags in (("finite", _FINITE_TAGS), ("base", _BASE)):
        kinds[kind] = kinds["verb"] & (wordnet.form_bits & tags > 0)
    by_context = np.empty((len(_WEIGHTS), width), np.int32)
    for context, weights in _WEIGHTS.items():
        score = frequency.copy()
        for kind, weight in weights.items():
            score[kinds[kind]] = frequency[kinds[kind]] * weight
        by_context[context] = _heaviest(codes, score, np.arange(count), width)
        doubtful = score[by_context[context]] < LEAST_SHARE * np.bincount(codes, score)
        by_context[context, doubtful] = -1

    forms, bits = [np.arange(count)], [wordnet.form_bits.astype(np.int64)]
    by_tag = np.empty((len(TAGS), width), np.int32)
    total = count
    for place, bit in enumerate(TAGS.values()):
        own = np.flatnonzero(wordnet.form_bits & bit)
        number = own.copy()
        several = wordnet.form_bits[own] != bit
        number[several] = total + np.arange(several.sum())
        total += int(several.sum())
        forms.append(own[several])
        bits.append(np.full(several.sum(), bit))
        by_tag[place] = _heaviest(codes[own], frequency[own], number, width)
    by_part = np.empty((4, width), np.int32)
    for part in sorted(ALL_PARTS):
        own = np.flatnonzero(parts == part)
        by_part[part] = _heaviest(codes[own], frequency[own], own, width)
    return Readings(
        np.concatenate(forms).astype(np.int32),
        np.concatenate(bits).astype(np.int16),
        encoded.dictionary,
        by_context,
        by_tag,
        by_part,
    )


def _heaviest(codes: np.ndarray, weights: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
    """int64 (width,): of each code the value of the greatest weight, the first of equals; −1 without one."""
    order = np.lexsort((-weights, codes))
    first = order[np.append(True, np.diff(codes[order]) > 0)[: len(order)]]
    heaviest = np.full(width, -1, np.int64)
    heaviest[codes[first]] = values[first]
    return heaviest


def entry_numbers() -> dict[tuple[str, int], int]:
    """The number of each entry of WordNet, by lemma and part of speech."""
    wordnet = load_wordnet()
    names = zip(wordnet.lemmas.to_pylist(), wordnet.entry_parts.tolist(), strict=True)
    return {name: number for number, name in enumerate(names)}


@lru_cache(maxsize=1)
def _fixed_phrases() -> PhraseTable:
    return PhraseTable(word_list("fixed_phrases"))


def reading_of_each_word(
    words: Words, parts: frozenset[int] = ALL_PARTS, parses: ParseRows | None = None
) -> np.ndarray:
    """Int64 (N,): the reading of each word, −1 where it has none, is protected, another part of speech."""
    # Function words, fixed phrases (`for example`) and words with a capital inside the sentence (names) are
    # protected; so is everything in capitals. With parses also parts of compounds and verbs with a
    # particle, and what the parse says is a name.
    table = readings()
    if not len(words):
        return np.zeros(0, np.int64)
    spelling = words.numbers(table.numbers)
    if parses is None:
        reading = _by_context(words, spelling, np.arange(len(words)))
        is_told = np.zeros(len(words), bool)
    else:
        reading, is_told = _by_parse(words, spelling, parses)
    reading[_is_name(words, reading, is_told)] = -1
    phrases = _fixed_phrases().find(words)  # `for example` does not take a hyponym
    reading[ranges(phrases.first, phrases.last - phrases.first + 1)] = -1
    some = np.flatnonzero(reading >= 0)
    part = load_wordnet().entry_parts[table.entries[reading[some]]]
    reading[some[~np.isin(part, list(parts))]] = -1
    return reading


def _by_context(words: Words, spelling: np.ndarray, some: np.ndarray) -> np.ndarray:
    """int64 (m,): the most likely reading of some words, given by their index, by the word on the left."""
    codes, distinct = words.lower
    cue = pc.fill_null(pc.index_in(distinct, _CUES), len(_CUES)).to_numpy()
    known = np.flatnonzero(spelling[some] >= 0)
    result, some = np.full(len(some), -1, np.int64), some[known]
    left = np.where(words.follows_space[some], _CONTEXT_OF_CUE[cue][codes[some - 1]], ANYWHERE)
    result[known] = readings().by_context[left, spelling[some]]
    return result


def _by_parse(words: Words, spelling: np.ndarray, parses: ParseRows) -> tuple[np.ndarray, np.ndarray]:
    """int64 (N,): the reading of each word by its tag, and bool (N,): which words are tokens of the parse."""
    tokens, is_token = token_of_each_word(words, parses)
    table = readings()
    part_of_pos = parses.pos.map(lambda pos: _PARTS.get(pos, -1), np.int64)[tokens]
    tag_place = parses.tags.map(lambda tag: _TAG_PLACES.get(tag, -1), np.int64)[tokens]
    tag_part = parses.tags.map(lambda tag: _PART_OF_TAG.get(tag[:1], -1), np.int64)[tokens]
    number = np.maximum(spelling, 0)
    by_tag = table.by_tag[np.maximum(tag_place, 0), number]
    # Tags of another kind than Penn's say nothing here: the part of speech has to do.
    likeliest = np.where(tag_place >= 0, by_tag, table.by_part[np.maximum(part_of_pos, 0), number])
    fits = is_token & (spelling >= 0) & (part_of_pos >= 0) & ((tag_place < 0) | (tag_part == part_of_pos))
    # Compounds and fixed expressions with their heads, and verbs with a particle, mean something together.
    compound, particle = parses.deps.among(_COMPOUNDS), parses.deps.among(_PARTICLES)
    compound[parses.parents[compound | particle]] = True
    fits &= ~compound[tokens]
    result = np.where(fits, likeliest, -1).astype(np.int64)
    rest = np.flatnonzero(~is_token & (spelling >= 0))
    if len(rest):  # well-known: several tokens
        result[rest] = _by_context(words, spelling, rest)
    return result, is_token


def token_of_each_word(words: Words, parses: ParseRows) -> tuple[np.ndarray, np.ndarray]:
    """int64 (N,): the token with the span of each word, and bool (N,): whether there is one."""
    if not len(parses.starts):
        return np.zeros(len(words), np.int64), np.zeros(len(words), bool)
    starts, ends = parses.text_starts, parses.text_starts + parses.ends - parses.starts
    tokens = np.minimum(np.searchsorted(starts, words.flat_starts), len(starts) - 1)
    return tokens, (starts[tokens] == words.flat_starts) & (ends[tokens] == words.flat_ends)


def _is_name(words: Words, reading: np.ndarray, is_told: np.ndarray) -> np.ndarray:
    """bool (N,): words with a capital that may be names."""
    wordnet = load_wordnet()
    classes, values = character_classes(), words.texts.values
    capital = words.has_capital
    protected = capital & (words.positions > 0)
    begins = np.flatnonzero(capital & (words.positions == 0) & (reading >= 0))
    if len(begins):
        lengths = words.flat_ends[begins] - words.flat_starts[begins]
        shouted = classes[values[np.minimum(words.flat_starts[begins] + 1, len(values) - 1)]] & LOWER == 0
        # A capital at the beginning may be a name's: Mark, Rich. Those that are rarely met as words stay.
        rare = wordnet.entry_counts[readings().entries[reading[begins]]] < 5
        protected[begins] = shouted | (lengths < 2) | (rare & ~is_told[begins])
    return protected
