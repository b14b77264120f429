"""Classes of terms by part of speech and form, without a parse: only a term of the same class fits the place.

A class is the *set* of tags that a spelling mostly has in WordNet's forms: `walk` (noun, base form of a verb)
and `help` share theirs and fit the same places, whichever of the two a sentence means; a plural never comes
for a singular, nor a noun that is not counted for one that is. Whether English says `an` before a word is
part of its class, so articles stay right; so is what a word asks for beside it (`words/word_frames.txt`):
`he thought that` becomes `he hoped that`. Names go by how they are written and what kind of name the shipped
table has them for, numbers by their shape, hyphenated words by their last part, words that no table has by
their ending.

Words of grammar have no class, as a sentence without its `the` is not fluent; nor have words of a set of tags
that few share, or whose ending does not tell. Any word of a class may be replaced, but only words that the
tagged texts have are put in its place.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources import english_terms
from augment_cli.resources.english_terms import load_english_terms
from augment_cli.resources.tags import TAGS
from augment_cli.resources.word_lists import word_list_digests, word_set, word_table
from augment_cli.resources.wordnet import PART_LETTERS, VERB, load_wordnet, wordnet_digest
from augment_cli.tfidf import forms
from augment_cli.tfidf.term_table import TermTable

# An entry counts for a spelling where it makes up this share of its uses in the tagged texts.
LEAST_SHARE = 0.05
LEAST_MEMBERS = 20  # words of rarer sets of tags have no class: nothing fits their place for sure
# Of a million, for a noun to be drawn that has no plural there: a rarer one may lack it by chance.
LEAST_SENTENCES = 300
LEAST_USES_OF_A_VERB = 2  # in the tagged texts, to be drawn; one of other words
NO_CLASS = -1
# Above the bits of `TAGS`.
_VOWEL = 1 << 13
_SPECIAL = 1 << 14
_HYPHEN = 1 << 15
_MASS = 1 << 16
_FRAME = 1 << 20  # times the number of the frame
_ALONE = "alone"
_VOWEL_SOUND = (
    r"^(?:a|e(?:[^uw]|u?$)|i|o(?:[^n]|n(?:[^ce]|e[^-s]))|u(?:[^nstrbgk]|n(?:[^i]|i[mnd])|[strb][^aeiou])|"
    r"hour|heir|honest|honou?r)"
)
# Special classes in order: the first pattern that matches a term decides.
_SHAPES = (
    r"^(?:1\d{3}|20[0-2]\d)$",  # years
    r"^\d$",
    r"^\d{2}$",
    r"^\d{3}$",
    r"^\d{4}$",
    r"^\d{5,}$",
    r"^\d{1,3}(?:,\d{3})+$",
    r"^\d+\.\d+$",
    r"^\d+(?:st|nd|rd|th)$",
    r"^\d+s$",
    r"^(?:january|february|march|april|june|july|august|september|october|november|december)$",
    r"^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)$",
    r"^(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|twenty|thirty|"
    r"forty|fifty|sixty|seventy|eighty|ninety)$",
    r"^(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)$",
    r"^(?:hundred|thousand|million|billion)$",
)
_SHAPELESS = r"^\d|^\pL(?:\.\pL)+\.?$"  # `30-34`; `U.S`, whose last full stop may be another token
# Words that no table has, by their ending.
_PLURAL = r"[^sui]s$"
_ENDINGS = (
    (r"ing$", TAGS["VBG"]),
    (r"ed$", TAGS["VBD"] | TAGS["VBN"]),
    (r"ly$", TAGS["RB"]),
    (_PLURAL, TAGS["NNS"]),
)


def class_digests() -> dict[str, str]:
    """Digests of the shipped tables and lists that decide classes, beside that of the shipped terms."""
    return {"wordnet": wordnet_digest()} | word_list_digests("function_words", "mass_nouns", "word_frames")


def classes_of(table: TermTable) -> np.ndarray:
    """int32 (V,): a number for each term's class, 0, 1, 2, …; −1 for words that are never replaced."""
    codes = _of_words(table.terms)
    frames = _frames(table.terms)
    codes = np.where((codes >= 0) & (frames > 0), codes + frames * _FRAME, codes)
    vowel = _matches(table.terms, _VOWEL_SOUND)
    codes = np.where(vowel & (codes >= 0), codes | _VOWEL, codes)
    names = _names(table)
    codes = np.where(names >= 0, names | np.where(vowel, _VOWEL, 0), codes)
    grammar = pc.is_in(table.terms, word_set("function_words")).to_numpy(zero_copy_only=False)
    codes[grammar | (frames == NO_CLASS) | _matches(table.terms, _SHAPELESS)] = NO_CLASS
    shapes = _shapes(table.terms)
    codes = np.where(shapes >= 0, shapes, codes)

    _, numbers = np.unique(codes[codes >= 0], return_inverse=True)
    result = np.full(len(codes), NO_CLASS, np.int32)
    result[codes >= 0] = numbers
    return result


def _of_words(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the class of each term by its tags, the tags of its last part, or its ending."""
    codes = _endings(terms)
    hyphenated = np.flatnonzero(_matches(terms, "-"))
    last = pc.list_element(
        pc.split_pattern(terms.take(pa.array(hyphenated)), "-", max_splits=1, reverse=True), 1
    )
    _, tags = _tags_of(last)
    # `a breast-bone`, but mostly `low-cost flights`: of those that end in a noun nobody knows which.
    codes[hyphenated] = np.where((tags >= 0) & (tags & TAGS["NN"] == 0), tags | _HYPHEN, NO_CLASS)
    is_known, tags = _tags_of(terms)
    return np.where(is_known, tags, codes)


def _tags_of(terms: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """bool (V,): terms that WordNet's forms have; int64 (V,): the set of tags of each, −1 for none."""
    spellings, tags = _tagged()
    place = pc.fill_null(pc.index_in(terms, spellings), -1).to_numpy(zero_copy_only=False)
    return place >= 0, np.where(place >= 0, tags[place], NO_CLASS)


def _frames(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the number of each term's frame; 0 for none, −1 for words that are never replaced."""
    spellings, numbers = _framed()
    place = pc.fill_null(pc.index_in(terms, spellings), -1).to_numpy(zero_copy_only=False)
    return np.where(place >= 0, numbers[place], 0)


@lru_cache(maxsize=1)
def _framed() -> tuple[pa.StringArray, np.ndarray]:
    """The spellings of the words that have a frame, and its number: −1 for `alone`, else 1, 2, …"""
    wordnet = load_wordnet()
    uses, total = _uses()
    often = uses >= LEAST_SHARE * total
    lines = [(frame, part, words.split()) for frame, part, words in word_table("word_frames")]
    names = list(dict.fromkeys(frame for frame, _, _ in lines if frame != _ALONE))
    found: dict[str, int] = {}
    for frame, part, words in lines:
        number = NO_CLASS if frame == _ALONE else names.index(frame) + 1
        spelled = words
        if part != "-":
            of_part = wordnet.entry_parts == PART_LETTERS.index(part)
            entries = pc.is_in(wordnet.lemmas, pa.array(words)).to_numpy(zero_copy_only=False) & of_part
            mine = entries[wordnet.form_entries] & often
            spelled = wordnet.forms.filter(pa.array(mine)).to_pylist()
        for word in spelled:
            found.setdefault(word, number)
    return pa.array(list(found), pa.string()), np.array(list(found.values()), np.int64)


@lru_cache(maxsize=1)
def _tagged() -> tuple[pa.StringArray, np.ndarray]:
    """The spellings of WordNet's forms, and the set of tags of each as bits of `TAGS`."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    spelling, count = encoded.indices.to_numpy(), len(encoded.dictionary)
    uses, total = _uses()
    bits = wordnet.form_bits.astype(np.int64)
    # lemminflect lists mass nouns, and many others, as their own plural.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~TAGS["NNS"], bits)
    often = uses >= LEAST_SHARE * total
    every = np.zeros(count, np.int64)
    np.bitwise_or.at(every, spelling[often], bits[often])
    members = np.bincount(every, minlength=_VOWEL)
    counted = np.zeros(count, bool)
    counted[spelling[often & (bits & TAGS["NN"] > 0) & _has_plural()[wordnet.form_entries]]] = True
    every |= np.where((every & TAGS["NN"] > 0) & ~counted, _MASS, 0)
    return encoded.dictionary, np.where(members[every & ~_MASS] >= LEAST_MEMBERS, every, NO_CLASS)


def _has_plural() -> np.ndarray:
    """bool (E,): entries whose plural is a term of the shipped table: `a river`, but not `a serenity`."""
    wordnet = load_wordnet()
    lemmas = wordnet.lemmas.take(pa.array(wordnet.form_entries))
    is_plural = pc.and_(
        pc.is_in(wordnet.forms, load_english_terms().terms), pc.not_equal(wordnet.forms, lemmas)
    )
    is_plural = is_plural.to_numpy(zero_copy_only=False) & (wordnet.form_bits & TAGS["NNS"] > 0)
    result = np.zeros(len(wordnet.lemmas), bool)
    result[wordnet.form_entries[is_plural]] = True
    result &= ~pc.is_in(wordnet.lemmas, word_set("mass_nouns")).to_numpy(zero_copy_only=False)
    return result


def may_be_drawn(table: TermTable) -> np.ndarray:
    """bool (V,): names, numbers, hyphenated words and words that the tagged texts have.

    What others ask for beside them, and what they are at all, no table says for sure; nor whether a rare noun
    can be counted.
    """
    wordnet = load_wordnet()
    uses = wordnet.entry_counts[wordnet.form_entries]
    least = np.where(wordnet.entry_parts[wordnet.form_entries] == VERB, LEAST_USES_OF_A_VERB, 1)
    attested = pc.is_in(table.terms, pc.unique(wordnet.forms.filter(pa.array(uses >= least))))
    shipped = load_english_terms()
    often = shipped.terms.filter(pa.array(shipped.document_frequency >= LEAST_SENTENCES))
    tags = _tags_of(table.terms)[1]
    doubtful = (tags >= 0) & (tags & _MASS > 0) & ~pc.is_in(table.terms, often).to_numpy(zero_copy_only=False)
    others = (_names(table) >= 0) | (_shapes(table.terms) >= 0) | _matches(table.terms, "-")
    drawable: np.ndarray = (attested.to_numpy(zero_copy_only=False) & ~doubtful) | others
    return drawable


@lru_cache(maxsize=1)
def _uses() -> tuple[np.ndarray, np.ndarray]:
    """float64 (F,): for each of WordNet's forms the uses of its entry, and of all entries of its spelling."""
    wordnet = load_wordnet()
    spelling = wordnet.forms.dictionary_encode().indices.to_numpy()
    # Words that the tagged texts lack go by their first entry.
    uses = wordnet.entry_counts[wordnet.form_entries] + 0.5
    return uses, np.bincount(spelling, uses)[spelling]


def _endings(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the tags that the ending of each term tells; −1 for other terms."""
    codes = np.full(len(terms), NO_CLASS, np.int64)
    for pattern, tags in _ENDINGS:
        codes[_matches(terms, pattern) & (codes < 0)] = tags
    return codes


def _names(table: TermTable) -> np.ndarray:
    """int64 (V,): the class of each name; −1 for other words."""
    if not len(table.cases):
        return np.full(len(table), NO_CLASS, np.int64)
    shipped = load_english_terms()
    place = pc.fill_null(pc.index_in(table.terms, shipped.terms), -1).to_numpy(zero_copy_only=False)
    kind = np.where(place >= 0, shipped.kinds[place], english_terms.NO_KIND).astype(np.int64)
    # Names of no kind that look like plurals: `Bavarians do`.
    kind += 30 * ((kind == english_terms.NO_KIND) & _matches(table.terms, _PLURAL))
    in_capitals = table.cases == forms.CAPITALS
    codes = _SPECIAL + 200 + np.where(in_capitals, 50, kind)
    return np.where(table.cases == forms.AS_IT_IS, NO_CLASS, codes)


def _shapes(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the class of each number, month, day and word of number; −1 for other words."""
    codes = np.full(len(terms), NO_CLASS, np.int64)
    for number, pattern in enumerate(_SHAPES):
        codes[_matches(terms, pattern) & (codes < 0)] = _SPECIAL + number
    return codes


def _matches(terms: pa.StringArray, pattern: str) -> np.ndarray:
    """bool (V,)"""
    matches: np.ndarray = pc.match_substring_regex(terms, pattern).to_numpy(zero_copy_only=False)
    return matches
