"""Classes of terms by part of speech and form, without a parse: only a term of the same class fits the place.

A class is the *set* of tags that a spelling mostly has in WordNet's forms: `walk` (noun, base form of a verb)
and `help` share theirs and fit the same places, whichever of the two a sentence means; a plural never comes
for a singular. Whether English says `an` before a word is part of its class, so articles stay right. Names go
by how they are written and what kind of name the shipped table has them for, numbers by their shape, words
that no table has by their ending. Words of grammar have no class: a sentence without its `the` is not fluent.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources.english_terms import load_english_terms
from augment_cli.resources.tags import TAGS
from augment_cli.resources.word_lists import word_set
from augment_cli.resources.wordnet import load_wordnet
from augment_cli.tfidf import forms
from augment_cli.tfidf.term_table import TermTable

# An entry counts for a spelling where it makes up this share of its uses in the tagged texts.
LEAST_SHARE = 0.1
LEAST_MEMBERS = 20  # rarer sets of tags count as the tags of their usual entry
NO_CLASS = -1
# Above the bits of `TAGS`.
_VOWEL = 1 << 13
_SPECIAL = 1 << 14
_VOWEL_SOUND = (
    r"^(?:a|e(?:[^uw]|u?$)|i|o(?:[^n]|n(?:[^ce]|e[^-s]))|u(?:[^nstrbgk]|n(?:[^i]|i[mnd])|[strb][^aeiou])|"
    r"hour|heir|honest|honou?r)"
)
# Special classes in order: the first pattern that matches a term decides.
_SHAPES = (
    r"^(?:1\d{3}|20[0-2]\d)$",  # years
    r"^\d$",
    r"^\d{2}$",
    r"^\d{3,}$",
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
    r"^\d",
)
# Words that no table has, by their ending.
_ENDINGS = (
    (r"-", 1),
    (r"ing$", TAGS["VBG"]),
    (r"ed$", TAGS["VBD"] | TAGS["VBN"]),
    (r"ly$", TAGS["RB"]),
    (r"[^sui]s$", 2),
    (r"", 3),
)


def classes_of(table: TermTable) -> np.ndarray:
    """int32 (V,): a number for each term's class, 0, 1, 2, …; −1 for words of grammar."""
    codes = _endings(table.terms)
    known = pc.fill_null(pc.index_in(table.terms, _tagged()[0]), -1).to_numpy(zero_copy_only=False)
    codes = np.where(known >= 0, _tagged()[1][known], codes)
    vowel = pc.match_substring_regex(table.terms, _VOWEL_SOUND).to_numpy(zero_copy_only=False)
    codes[vowel] |= _VOWEL
    names = _names(table)
    codes = np.where(names >= 0, names | np.where(vowel, _VOWEL, 0), codes)
    grammar = pc.is_in(table.terms, word_set("function_words")).to_numpy(zero_copy_only=False)
    codes[grammar] = NO_CLASS
    shapes = _shapes(table.terms)
    codes = np.where(shapes >= 0, shapes, codes)

    _, numbers = np.unique(codes[codes >= 0], return_inverse=True)
    result = np.full(len(codes), NO_CLASS, np.int32)
    result[codes >= 0] = numbers
    return result


@lru_cache(maxsize=1)
def _tagged() -> tuple[pa.StringArray, np.ndarray]:
    """The spellings of WordNet's forms, and the set of tags of each as bits of `TAGS`."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    spelling, count = encoded.indices.to_numpy(), len(encoded.dictionary)
    # Words that the tagged texts lack go by their first entry.
    uses = wordnet.entry_counts[wordnet.form_entries] + 0.5
    heaviest = np.zeros(count)
    np.maximum.at(heaviest, spelling, uses)
    total = np.bincount(spelling, uses, count)
    bits = wordnet.form_bits.astype(np.int64)
    # lemminflect lists mass nouns, and many others, as their own plural.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~TAGS["NNS"], bits)
    often = uses >= LEAST_SHARE * total[spelling]
    usual = uses == heaviest[spelling]
    every, main = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.bitwise_or.at(every, spelling[often], bits[often])
    np.bitwise_or.at(main, spelling[usual], bits[usual])
    members = np.bincount(every, minlength=_VOWEL)
    return encoded.dictionary, np.where(members[every] >= LEAST_MEMBERS, every, main)


def _endings(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the class of each term by its ending."""
    codes = np.full(len(terms), -1, np.int64)
    for number, (pattern, code) in enumerate(_ENDINGS):
        matches = pc.match_substring_regex(terms, pattern).to_numpy(zero_copy_only=False)
        special = _SPECIAL + 100 + number if code in (1, 2, 3) else code
        codes[matches & (codes < 0)] = special
    return codes


def _names(table: TermTable) -> np.ndarray:
    """int64 (V,): the class of each name; −1 for other words."""
    if not len(table.cases):
        return np.full(len(table), NO_CLASS, np.int64)
    shipped = load_english_terms()
    place = pc.fill_null(pc.index_in(table.terms, shipped.terms), -1).to_numpy(zero_copy_only=False)
    kind = np.where(place >= 0, shipped.kinds[place], 0).astype(np.int64)
    in_capitals = table.cases == forms.CAPITALS
    codes = _SPECIAL + 200 + np.where(in_capitals, 50, kind)
    return np.where(table.cases == forms.AS_IT_IS, NO_CLASS, codes)


def _shapes(terms: pa.StringArray) -> np.ndarray:
    """int64 (V,): the class of each number, month, day and word of number; −1 for other words."""
    codes = np.full(len(terms), NO_CLASS, np.int64)
    for number, pattern in enumerate(_SHAPES):
        matches = pc.match_substring_regex(terms, pattern).to_numpy(zero_copy_only=False)
        codes[matches & (codes < 0)] = _SPECIAL + number
    return codes
