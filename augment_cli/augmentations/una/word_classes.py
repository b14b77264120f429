"""Kinds of names and numbers, and classes of terms for `same = "pos"`: only a term of the same class fits.

A name or number stands for others of its kind, whatever the sentence. Names go by lists
(`words/entity_kinds.txt`: countries, cities, peoples with a language of their own, …), first names by
`words/male_names.txt` and the like, surnames by the shipped terms. Numbers go by their size and how round
they are, years by their decade, so that what comes is as likely there as what stood there, and years keep
their order.

Words have the classes of a list of words that
stand for one another in most sentences, and mean something else (`words/exchangeable_words.txt`),
parted by form: a plural comes for a plural, a past tense for a past tense. A spelling that is as well
another part of speech has no class, as no table says which of them a sentence means; nor has any other word.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import resources
from augment_cli.resources import load_english_terms, word_list, word_list_digests, word_set, word_table
from augment_cli.resources.wordnet import PART_LETTERS, TAGS, load_wordnet, wordnet_digest
from augment_cli.tfidf import term_table
from augment_cli.tfidf.term_table import TermTable

NO_ENTITY = -1
MALE, FEMALE, SURNAME, MONTH, WEEKDAY, DAY = range(6)  # months and days are in `kinds_of_numbers.txt`, too
_LISTED = 100  # plus the line of the list
NUMBERS = 10_000  # kinds from here on are numbers, in digits or words; those below, but for days, are names
WORDS = 35_000  # and from here on words of number
_YEARS = 20_000  # plus the decade, or the century of the Middle Ages
_LISTS = ("entity_kinds", "male_names", "female_names", "doubtful_surnames")
_YEAR = r"^(?:1\d{3}|20[0-2]\d)$"
_EARLY = 1500  # before this year a century is as good as a decade


def place_in(terms: pa.StringArray, others: pa.StringArray) -> np.ndarray:
    """int64 (V,): where each term stands among others; −1 where it does not."""
    places: np.ndarray = pc.fill_null(pc.index_in(terms, others), -1).to_numpy(zero_copy_only=False)
    return places.astype(np.int64)


def among(table: TermTable, wanted: pa.Array) -> np.ndarray:
    """bool (V,): which terms are among some words."""
    return pc.is_in(table.terms, wanted).to_numpy(zero_copy_only=False)


def matching(table: TermTable, pattern: str) -> np.ndarray:
    """bool (V,): which terms have a place that a regular expression matches."""
    return pc.match_substring_regex(table.terms, pattern).to_numpy(zero_copy_only=False)


def entity_digests() -> dict[str, str]:
    """Digests of the word lists behind the kinds, for the fingerprint."""
    return word_list_digests(*_LISTS)


def is_year(kinds: np.ndarray) -> np.ndarray:
    """bool (m,): which kinds are of years."""
    years: np.ndarray = (kinds >= _YEARS) & (kinds < _YEARS + 1000)
    return years


def kinds_of_terms(table: TermTable) -> np.ndarray:
    """int64 (V,): the kind of each term by itself; NO_ENTITY for other words."""
    kinds = np.full(len(table), NO_ENTITY, np.int64)
    if not len(table):
        return kinds
    shipped = load_english_terms()
    place = place_in(table.terms, shipped.terms)
    kind = np.where(place >= 0, shipped.kinds[place], resources.NO_KIND)
    male, female, doubtful = (among(table, word_set(name)) for name in _LISTS[1:])
    kinds[(kind == resources.SURNAME) & ~doubtful] = SURNAME
    given = kind == resources.GIVEN
    kinds[given & male & ~female] = MALE
    kinds[given & female & ~male] = FEMALE
    names, numbers = _listed()
    line = place_in(table.terms, names)
    kinds = np.where(line >= 0, _LISTED + numbers[line], kinds)
    for number, pattern in reversed(word_table("kinds_of_numbers")):  # the first that matches counts
        kinds[matching(table, f"^(?:{pattern})$")] = int(number)
    for index in np.flatnonzero(matching(table, _YEAR)).tolist():
        year = int(table.terms[index].as_py())
        kinds[index] = _YEARS + year // (100 if year < _EARLY else 10)
    return kinds


@lru_cache(maxsize=1)
def _listed() -> tuple[pa.StringArray, np.ndarray]:
    """The names of the list, and the line of each."""
    lines = [line.split() for line in word_list("entity_kinds")]
    numbers = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return pa.array([name for line in lines for name in line], pa.string()), numbers


NO_CLASS = -1
# 1 drew any word of the same part of speech and form; 2 took parts of `1 . 2`; 3 took one of two mentions
RULES = 4
_LEAST_SHARE = 0.1  # of its uses, from which another part of speech makes a spelling ambiguous
_WORDS = 1 << 20  # classes of words stand above the kinds of names and numbers
_FORMS = 1 << 13  # times the line, above the bits of `TAGS`


def class_digests() -> dict[str, str]:
    """Digests of the shipped tables and lists that decide classes."""
    return {"wordnet": wordnet_digest()} | word_list_digests("exchangeable_words") | entity_digests()


def classes_of(table: TermTable) -> np.ndarray:
    """int32 (V,): a number for each term's class, 0, 1, 2, …; −1 for terms that are never replaced."""
    spellings, codes = _exchangeable()
    place = place_in(table.terms, spellings)
    found = np.where(place >= 0, codes[place], NO_CLASS)
    if len(table.cases):  # `President` for a governor, `Moon` for the sun
        found = np.where(table.cases == term_table.AS_IT_IS, found, NO_CLASS)
    kinds = kinds_of_terms(table)
    found = np.where(kinds != NO_ENTITY, kinds, found)
    result = np.full(len(found), NO_CLASS, np.int32)
    result[found >= 0] = np.unique(found[found >= 0], return_inverse=True)[1]
    return result


@lru_cache(maxsize=1)
def _exchangeable() -> tuple[pa.StringArray, np.ndarray]:
    """The spellings of the listed words, and a number for the line and form of each."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    spelling = encoded.indices.to_numpy()
    uses = wordnet.entry_counts[wordnet.form_entries] + 0.5
    often = uses >= _LEAST_SHARE * np.bincount(spelling, uses)[spelling]
    parts = wordnet.entry_parts[wordnet.form_entries]
    bits = wordnet.form_bits.astype(np.int64)
    # lemminflect lists mass nouns, and many others, as their own plural.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~TAGS["NNS"], bits)
    found: dict[str, int] = {}
    for line, (letter, words) in enumerate(word_table("exchangeable_words")):
        if letter == "-":
            found |= dict.fromkeys(words.split(), _WORDS + line * _FORMS)
            continue
        part = PART_LETTERS.index(letter)
        entries = pc.is_in(wordnet.lemmas, pa.array(words.split())).to_numpy(zero_copy_only=False)
        mine = entries[wordnet.form_entries] & (parts == part)
        other = np.bincount(spelling, often & (parts != part), len(encoded.dictionary)) > 0
        for form in np.flatnonzero(mine & often & ~other[spelling]).tolist():
            word = wordnet.forms[form].as_py()
            # Of a spelling that is several forms, all of them: `walked`, past tense and participle.
            found[word] = found.get(word, _WORDS + line * _FORMS) | int(bits[form])
    return pa.array(list(found), pa.string()), np.array(list(found.values()), np.int64)
