"""Names, numbers and dates among the tokens of sentences, by kind, and others of the same kind to draw.

A token is an entity by its term (a shape of digits, a month, a name of a kind that the shipped table knows)
and by the tokens beside it: what follows a first name is a surname, a small number beside a month is a day.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow.compute as pc

from augment_cli.augmentations.terms.shared.vocabulary import Vocabulary
from augment_cli.contract.rows import TokenRows
from augment_cli.resources import english_terms
from augment_cli.resources.english_terms import load_english_terms
from augment_cli.resources.word_lists import word_list_digests, word_set
from augment_cli.tfidf import forms
from augment_cli.tfidf.term_table import TermTable

NO_ENTITY = -1
SURNAME, PLACE, DEMONYM, VOWEL_DEMONYM, GIVEN, MALE, FEMALE, MONTH, WEEKDAY, DAY = range(10)
_KINDS = {
    english_terms.SURNAME: SURNAME,
    english_terms.PLACE: PLACE,
    english_terms.DEMONYM: DEMONYM,
    english_terms.GIVEN: GIVEN,
}
# Names of all kinds and of dates are written with a capital; a token without one is another word.
_CAPITALISED = WEEKDAY
_LISTS = ("male_names", "female_names", "other_adjectives")
_DAYS = r"^(?:[1-9]|1\d|2[0-8])$"
_SHAPES = (
    (MONTH, r"^(?:january|february|march|april|may|june|july|august|september|october|november|december)$"),
    (WEEKDAY, r"^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)$"),
    (10, r"^(?:1[5-9]\d{2}|20[0-2]\d)$"),  # years of the last centuries
    (11, r"^1[0-4]\d{2}$"),
    (12, r"^[2-9]$"),
    (13, r"^(?:1[02-79]|[2-79]\d)$"),  # behind `a`, as those with a vowel are not
    (14, r"^[1-79]\d{2}$"),
    (15, r"^\d{1,3},\d{3}$"),
    (16, r"^\d{1,3}(?:,\d{3}){2,}$"),
    (17, r"^\d{1,2}\.\d+$"),
    (18, r"^(?:1\d|[2-79])th$|^2[1-9](?:st|nd|rd|th)$"),
    (19, r"^(?:1[5-9]|20)\d0s$"),
    (
        20,
        r"^(?:two|three|four|five|six|seven|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|seventy|ninety)$",
    ),
    (21, r"^(?:second|third|fourth|fifth|sixth|seventh|ninth|tenth)$"),
    (22, r"^(?:thousand|million|billion)$"),
)
KINDS = 23


@dataclass(frozen=True, eq=False)
class Entities:
    """What a vocabulary has of each kind.

    Attributes
    ----------
    kinds : ndarray of int8, shape (V+1,)
        Kind of each term by itself, NO_ENTITY for other words; the last for −1.
    is_day : ndarray of bool, shape (V+1,)
        Numbers that a day of a month can have.
    members : ndarray of int64
        Terms to draw, kind by kind.
    bounds : ndarray of int64, shape (KINDS+1,)
        Those of kind k are the places bounds[k] … bounds[k+1]−1.
    table : TermTable
        Their sentence counts as scores, to draw from.
    """

    kinds: np.ndarray
    is_day: np.ndarray
    members: np.ndarray
    bounds: np.ndarray
    table: TermTable

    @cached_property
    def _keys(self) -> np.ndarray:
        """int64: members as kind·(V+1) + term, rising."""
        kinds = np.repeat(np.arange(KINDS), np.diff(self.bounds))
        return kinds * len(self.kinds) + self.members

    def draw(self, ids: np.ndarray, kinds: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """For each term (m,) another of its kind (m,), with probability ∝ sentence count; −1 for none."""
        keys = kinds.astype(np.int64) * len(self.kinds) + ids
        place = np.searchsorted(self._keys, keys)
        found = np.append(self._keys, -1)[place] == keys
        low, high = self.bounds[kinds], self.bounds[kinds + 1]
        drawn = self.table.draw_between(low, high, place, found, uniforms)
        return np.where(drawn >= 0, self.members[drawn], -1)

    def of_tokens(
        self,
        tokens: TokenRows,
        ids: np.ndarray,
        has_capital: np.ndarray,
        is_first: np.ndarray,
        cases: np.ndarray,
    ) -> np.ndarray:
        """The kind of each token, int8 (N,).

        Parameters
        ----------
        tokens : TokenRows
        ids : ndarray of int32, shape (N,)
            Terms of the vocabulary.
        has_capital, is_first : ndarray of bool, shape (N,)
            Whether a token begins with a capital, and whether it begins its row.
        cases : ndarray of int8, shape (V+1,)
            How each term is mostly written.
        """
        kinds = self.kinds[ids]
        same_row = tokens.rows[1:] == tokens.rows[:-1]
        # `In May`, but not `May I`; `March` the month, but not `march`.
        doubtful = is_first & (cases[ids] == forms.AS_IT_IS)
        named = (kinds >= 0) & (kinds <= _CAPITALISED)
        kinds = np.where(named & (~has_capital | doubtful), NO_ENTITY, kinds)
        is_given = (kinds >= GIVEN) & (kinds <= FEMALE)
        given = np.append(False, is_given[:-1] & same_row)
        capital_name = has_capital & (cases[ids] != forms.AS_IT_IS)
        kinds = np.where(given & capital_name & ~is_given, SURNAME, kinds)
        month = kinds == MONTH
        beside = np.append(False, month[:-1] & same_row) | np.append(month[1:] & same_row, False)
        return np.where(beside & self.is_day[ids], DAY, kinds)


@lru_cache(maxsize=2)
def entities_of(vocabulary: Vocabulary) -> Entities:
    """The entities of a vocabulary; kept, as it is."""
    table = vocabulary.table
    shipped = load_english_terms()
    place = pc.fill_null(pc.index_in(table.terms, shipped.terms), -1).to_numpy(zero_copy_only=False)
    shipped_kind = np.where(place >= 0, shipped.kinds[place], english_terms.NO_KIND)
    kinds = np.full(len(table) + 1, NO_ENTITY, np.int8)
    for number, kind in _KINDS.items():
        kinds[:-1][shipped_kind == number] = kind
    # `Edwardian` is no people, and `Sir Kathleen` no knight.
    kinds[:-1][(kinds[:-1] == DEMONYM) & _among(table, "other_adjectives")] = NO_ENTITY
    is_given = kinds[:-1] == GIVEN
    is_male, is_female = _among(table, "male_names"), _among(table, "female_names")
    kinds[:-1][is_given & is_male & ~is_female] = MALE
    kinds[:-1][is_given & is_female & ~is_male] = FEMALE
    vowel = pc.match_substring_regex(table.terms, "^(?:[aeio]|u[^nkgrs])").to_numpy(zero_copy_only=False)
    kinds[:-1][(kinds[:-1] == DEMONYM) & vowel] = VOWEL_DEMONYM
    for kind, pattern in _SHAPES:
        kinds[:-1][pc.match_substring_regex(table.terms, pattern).to_numpy(zero_copy_only=False)] = kind
    is_day = pc.match_substring_regex(table.terms, _DAYS).to_numpy(zero_copy_only=False)

    drawable = vocabulary.drawable
    wanted = [is_day if kind == DAY else kinds[:-1] == kind for kind in range(KINDS)]
    groups = [np.flatnonzero(drawable & group) for group in wanted]
    members = np.concatenate(groups)
    bounds = np.append(0, np.cumsum([len(group) for group in groups]))
    counts = table.document_frequency
    weights = np.ones(len(members)) if counts is None else counts[members].astype(np.float64)
    scores = TermTable(table.terms.take(members), table.idf[members], weights)
    return Entities(kinds, np.append(is_day, False), members, bounds, scores)


def entity_digests() -> dict[str, str]:
    """Digests of the word lists behind the kinds, for the fingerprint."""
    return word_list_digests(*_LISTS)


def _among(table: TermTable, name: str) -> np.ndarray:
    """bool (V,): whether each term is on a word list."""
    return pc.is_in(table.terms, word_set(name)).to_numpy(zero_copy_only=False)
