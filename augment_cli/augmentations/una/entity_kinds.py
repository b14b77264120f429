"""Kinds of names and numbers: a term stands for others of its kind, whatever the sentence.

Names go by lists (`words/entity_kinds.txt`: countries, cities, peoples with a language of their own, …),
first names by `words/male_names.txt` and the like, surnames by the shipped terms. Numbers go by their size
and how round they are, years by their decade, so that what comes is as likely there as what stood there, and
years keep their order.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources import english_terms
from augment_cli.resources.english_terms import load_english_terms
from augment_cli.resources.word_lists import word_list, word_list_digests, word_set
from augment_cli.tfidf.term_table import TermTable

NO_ENTITY = -1
MALE, FEMALE, SURNAME, MONTH, WEEKDAY, DAY = range(6)
_LISTED = 100  # plus the line of the list
NUMBERS = 10_000  # kinds from here on are numbers, in digits or words; those below, but for days, are names
WORDS = 35_000  # and from here on words of number
_YEARS = 20_000  # plus the decade, or the century of the Middle Ages
_LISTS = ("entity_kinds", "male_names", "female_names", "doubtful_surnames")
_DATES = (
    (MONTH, r"^(?:january|february|march|april|may|june|july|august|september|october|november|december)$"),
    (WEEKDAY, r"^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)$"),
)
# None that is said with a vowel first (8, 11, 80): `a` or `an` stands before it.
_SHAPES = (
    (30_000, r"^[2-79]$"),
    (30_001, r"^[2-79]0$"),
    (30_002, r"^1[02-79]$"),
    (30_003, r"^[2-79][1-9]$"),
    (30_004, r"^[1-79]00$"),
    (30_005, r"^[1-79](?:[1-9]0|\d5)$"),
    (30_006, r"^[1-79]\d[1-46-9]$"),
    (31_000, r"^(?:10|1[2-79]|[2-79]\d?),000$"),
    (31_001, r"^[1-79]\d\d,000$"),
    (31_002, r"^[1-79],\d00$"),
    (31_003, r"^[1-79],\d{3}$"),
    (31_004, r"^[2-79]\d,\d00$"),
    (31_005, r"^[2-79]\d,\d{3}$"),
    (31_006, r"^[1-79]\d\d,\d{3}$"),
    (32_000, r"^[1-79](?:,\d{3}){2}$"),
    (33_000, r"^[1-79]\.\d$"),
    (33_001, r"^[1-79]\.\d\d$"),
    (33_002, r"^[2-79]\d\.\d$"),
    (33_003, r"^[2-79]\d\.\d\d$"),
    (34_000, r"^1[2-79]th$"),
    (34_001, r"^2[2-9](?:nd|rd|th)$"),
    (34_002, r"^[4-79]th$"),
    (34_003, r"^19\d0s$"),
    (34_004, r"^17\d0s$"),
    (34_005, r"^18\d0s$"),
    (WORDS, r"^(?:two|three|four|five|six|seven|nine|ten)$"),
    (35_001, r"^(?:twenty|thirty|forty|fifty|sixty|seventy|ninety)$"),
    (35_002, r"^(?:third|fourth|fifth|sixth|seventh|ninth|tenth)$"),
)
_YEAR = re.compile(r"1[5-9]\d\d|20[0-2]\d", re.ASCII)
_EARLY_YEAR = re.compile(r"1[0-4]\d\d", re.ASCII)


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
    place = pc.fill_null(pc.index_in(table.terms, shipped.terms), -1).to_numpy(zero_copy_only=False)
    kind = np.where(place >= 0, shipped.kinds[place], english_terms.NO_KIND)
    kinds[(kind == english_terms.SURNAME) & ~_among(table, "doubtful_surnames")] = SURNAME
    male, female = _among(table, "male_names"), _among(table, "female_names")
    given = kind == english_terms.GIVEN
    kinds[given & male & ~female] = MALE
    kinds[given & female & ~male] = FEMALE
    names, numbers = _listed()
    line = pc.fill_null(pc.index_in(table.terms, names), -1).to_numpy(zero_copy_only=False)
    kinds = np.where(line >= 0, _LISTED + numbers[line], kinds)
    for number, pattern in reversed((*_DATES, *_SHAPES)):  # the first that matches counts
        kinds[pc.match_substring_regex(table.terms, pattern).to_numpy(zero_copy_only=False)] = number
    four = pc.match_substring_regex(table.terms, r"^[12]\d{3}$").to_numpy(zero_copy_only=False)
    for index in np.flatnonzero(four).tolist():
        term = table.terms[index].as_py()
        if _YEAR.fullmatch(term):
            kinds[index] = _YEARS + int(term) // 10
        elif _EARLY_YEAR.fullmatch(term):
            kinds[index] = _YEARS + int(term) // 100
    return kinds


@lru_cache(maxsize=1)
def _listed() -> tuple[pa.StringArray, np.ndarray]:
    """The names of the list, and the line of each."""
    lines = [line.split() for line in word_list("entity_kinds")]
    numbers = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return pa.array([name for line in lines for name in line], pa.string()), numbers


def _among(table: TermTable, name: str) -> np.ndarray:
    """bool (V,): whether each term is on a word list."""
    return pc.is_in(table.terms, word_set(name)).to_numpy(zero_copy_only=False)
