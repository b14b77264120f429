"""Names, numbers and dates among the tokens of sentences, by kind, and others of the same kind to draw.

A token is an entity by its term (`word_classes.py`), by the tokens beside it (what follows a first name is a
surname, a small number beside a month is a day), and if it is no part of a longer name, range or label.
`Paris` in `in Paris, France` is one; in `Paris Hilton`, `New Paris`, `University of Paris`, `Paris–Roubaix`
it is not, nor is the number of `Apollo 11`, `No. 9`, `50–60` or `400 BC`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.vocabulary import Vocabulary, spans_of
from augment_cli.augmentations.una.word_classes import (
    DAY,
    FEMALE,
    MALE,
    MONTH,
    NO_ENTITY,
    NUMBERS,
    SURNAME,
    WORDS,
    among,
    is_year,
    kinds_of_terms,
    matching,
)
from augment_cli.contract.rows import TokenRows
from augment_cli.resources import word_groups, word_set
from augment_cli.text.spans import CodePoints
from augment_cli.text.surface import LOWER, UPPER, character_classes
from augment_cli.tfidf import term_table
from augment_cli.tfidf.term_table import TermTable

_KINDS = 100_000  # more than any kind's number
_LETTER = LOWER | UPPER
_TEENS = 30_002  # 10 and 12, which hours may be, and 13 to 19, which they may not
_STEM = 4  # letters that the forms of a word share: `Iran`, `Iranian`
_GLUE = "–—-−/:×^°'’_#*+=<>~"  # beside a name or number: a range, a ratio, a compound; 's is another token


class EntityContext:
    """What the tokens of a corpus say about those beside them."""

    def __init__(self, terms: TermTable, vocabulary: Vocabulary) -> None:
        self._words = {name: _flags(terms, words) for name, words in vars(word_groups("entity-swap")).items()}
        self._round = np.append(matching(terms, r"^\d+00$"), False)
        stems = pc.utf8_slice_codeunits(terms.terms, 0, _STEM).dictionary_encode()
        self._stems = np.append(stems.indices.to_numpy(), len(stems.dictionary)).astype(np.int64)
        self._plain = np.append(vocabulary.table.cases == term_table.AS_IT_IS, False)[vocabulary.own]

    def _has_other_form(self, tokens: TokenRows) -> np.ndarray:
        """bool (N,): tokens beside another form of their word: `Iran … Iranian`."""
        size = len(self._stems)
        pairs, of = np.unique(tokens.rows * size + tokens.term_ids % size, return_inverse=True)
        shared: np.ndarray = _is_shared(pairs // size * size + self._stems[pairs % size])[of]
        return shared

    def stands_alone(
        self, texts: CodePoints, tokens: TokenRows, kinds: np.ndarray, has_capital: np.ndarray
    ) -> np.ndarray:
        """bool (N,): which tokens, of a kind each (N,), may be exchanged for others of it."""
        # "In May 1986 Anna left New Paris for Rome.": May, 1986 and Rome may be exchanged, Paris may not.
        ids, rows, count = tokens.term_ids, tokens.rows, len(tokens.term_ids)
        if not count:
            return np.zeros(0, bool)
        first = np.arange(count) == tokens.offsets[rows]
        capital = has_capital & ~(first & self._plain[ids])
        base = texts.offsets[rows]
        starts, ends = spans_of(texts, tokens)
        spaced = _joined(rows, starts, ends)
        behind = np.append(spaced[1:], False)
        before, after = np.arange(count) - 1, np.minimum(np.arange(count) + 1, count - 1)
        follows = {name: spaced & flags[ids[before]] for name, flags in self._words.items()}
        leads = {name: behind & flags[ids[after]] for name, flags in self._words.items()}

        number, year, month = kinds >= NUMBERS, is_year(kinds), kinds == MONTH
        dated = month | (kinds == DAY) | year
        plain = number & ~year
        beside_before, beside_after = spaced & capital[before], behind & capital[after]
        paid = np.isin(texts.values[np.maximum(starts - 1, 0)], [ord(sign) for sign in "$£€"])
        owner = np.isin(texts.values[np.minimum(ends, len(texts.values) - 1)], [ord("'"), ord("’")])
        ahead, second = np.maximum(before - 1, 0), np.minimum(after + 1, count - 1)
        comma = (texts.values[starts[after]] == ord(",")) & (rows[second] == rows)
        # `June opened the door`
        is_time = follows["when"] | (spaced & (kinds[before] == DAY))
        is_time |= behind & ((kinds[after] == DAY) | year[after])
        bound = _glued(texts, starts, ends, base, texts.offsets[rows + 1]) | self._has_other_form(tokens)
        # `In Paris Anna …`, `May 1986`: dates stand beside anything.
        bound |= ~dated & (beside_before | (beside_after & ~(number & first)))
        bound |= year & ((beside_before & (kinds[before] != MONTH)) | (paid & (starts > base)))
        # `over 1984 seats`, `2000 seats`: no years, though they look like some
        bound |= year & (self._round[ids] | follows["amounts"])
        bound |= month & (beside_after | ~is_time)  # `March Hare`
        # `University of Paris`, `Treaty of Rome`; `Manchester, New Hampshire`
        bound |= ~number & follows["of"] & spaced[before] & capital[ahead]
        bound |= ~number & ~dated & comma & has_capital[second]
        # Days of a month have a kind; `20 or 21`; the number of a paragraph; `2 3 5 trichlorophenol`
        bound |= plain & (_beside(month, tokens) | follows["ranges"] | leads["ranges"])
        bound |= plain & ((first & (kinds < WORDS)) | (spaced & number[before]) | (behind & number[after]))
        bound |= number & owner  # `the 747's wings`
        bound |= (number | dated) & (follows["labels"] | leads["eras"] | leads["fixed"])
        bound |= leads["hours"] & (kinds == _TEENS)
        return ~bound & ~_several_of_a_kind(tokens, kinds)


def _is_shared(keys: np.ndarray) -> np.ndarray:
    """bool, the shape of `keys`: those that are there more than once."""
    _, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    shared: np.ndarray = (counts > 1)[of]
    return shared


def _joined(rows: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """bool (N,): tokens with nothing but a space between them and the one before in their row."""
    joined: np.ndarray = np.append(False, (rows[1:] == rows[:-1]) & (starts[1:] == ends[:-1] + 1))
    return joined


def _beside(mask: np.ndarray, tokens: TokenRows) -> np.ndarray:
    """bool (N,): tokens next to one of a mask in their row."""
    same_row = tokens.rows[1:] == tokens.rows[:-1]
    beside: np.ndarray = np.append(False, mask[:-1] & same_row) | np.append(mask[1:] & same_row, False)
    return beside


def _flags(terms: TermTable, words: frozenset[str]) -> np.ndarray:
    """bool (V+1,): which terms are among some words; the last for −1."""
    flags = np.zeros(len(terms) + 1, bool)
    ids = terms.ids_of(pa.array(sorted(words)))
    flags[ids[ids >= 0]] = True
    return flags


def _glued(
    texts: CodePoints, starts: np.ndarray, ends: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """bool (N,): tokens that a mark ties to another, with no space between."""
    values = texts.values
    marks = np.array([ord(mark) for mark in _GLUE])
    last = max(len(values) - 1, 0)
    classes = character_classes()
    left, right = values[np.maximum(starts - 1, 0)], values[np.minimum(ends, last)]
    further = values[np.minimum(ends + 1, last)]
    # `Reagan's` is the name alone, `O'Hara` and `rock'n'roll` are not.
    owned = np.isin(right, [ord("'"), ord("’")]) & ((further == ord("s")) | (classes[further] & _LETTER == 0))
    tied_left = (starts > low) & (np.isin(left, marks) | (classes[left] & _LETTER > 0))
    tied_right = (ends < high) & ((np.isin(right, marks) & ~owned) | (classes[right] & _LETTER > 0))
    # `1 . 2` of a text in tokens
    points = values == ord(".")
    spaced = points & (np.roll(values, 1) == ord(" ")) & (np.roll(values, -1) == ord(" "))
    digits = (values >= ord("0")) & (values <= ord("9"))
    split = spaced & np.roll(digits, 2) & np.roll(digits, -2)
    tied_left |= (starts > low + 1) & split[np.maximum(starts - 2, 0)]
    tied_right |= (ends + 1 < high) & split[np.minimum(ends + 1, last)]
    return tied_left | tied_right


def _several_of_a_kind(tokens: TokenRows, kinds: np.ndarray) -> np.ndarray:
    """bool (N,): numbers and months with another of their kind: `from 1981 to 1984` could end too early."""
    result = np.zeros(len(kinds), bool)
    numbers = np.flatnonzero((kinds >= NUMBERS) | (kinds == DAY) | (kinds == MONTH))
    if len(numbers):
        key = tokens.rows[numbers] * _KINDS + kinds[numbers]
        pairs = np.unique(np.stack([key, tokens.term_ids[numbers].astype(np.int64)]), axis=1)
        keys, counts = np.unique(pairs[0], return_counts=True)
        result[numbers] = np.isin(key, keys[counts > 1])
    return result


_DAYS = r"^(?:[1-9]|1\d|2[0-8])$"
_NAME = r"^\pL[\pL-]{2,}$"  # no initial, no `Jr.`
_ROMAN = r"^[ivx]+$"


@dataclass(frozen=True, eq=False)
class Entities:
    """What a vocabulary has of each kind."""

    kinds: np.ndarray  # kind of each term by itself, NO_ENTITY for other words; the last for −1
    is_day: np.ndarray  # numbers that a day of a month can have
    may_be_surname: np.ndarray  # names behind a first name
    members: np.ndarray  # terms to draw, kind by kind
    member_kinds: np.ndarray  # the kind of each
    table: TermTable  # their sentence counts as scores, to draw from

    def draw(self, ids: np.ndarray, kinds: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """For each term (m,) another of its kind (m,), with probability ∝ sentence count; −1 for none."""
        size = len(self.kinds)
        keys, members = kinds * size + ids, self.member_kinds * size + self.members
        place = np.searchsorted(members, keys)
        found = np.append(members, -1)[place] == keys
        low, high = (np.searchsorted(self.member_kinds, kinds, side) for side in ("left", "right"))
        drawn = self.table.draw_between(low, high, place, found, uniforms)
        return np.where(drawn >= 0, np.append(self.members, -1)[drawn], -1)

    def of_tokens(self, tokens: TokenRows, ids: np.ndarray, is_capital: np.ndarray) -> np.ndarray:
        """The kind of each token, int64 (N,); `is_capital` (N,) has those with a capital of their own."""
        # `In May`, but not `May I`; `March` the month, but not `march`.
        kinds = self.kinds[ids]
        kinds = np.where((kinds >= 0) & (kinds < NUMBERS) & ~is_capital, NO_ENTITY, kinds)
        return np.where(_beside(kinds == MONTH, tokens) & self.is_day[ids], DAY, kinds)

    def first_names(
        self, tokens: TokenRows, ids: np.ndarray, kinds: np.ndarray, is_capital: np.ndarray
    ) -> np.ndarray:
        """int64 (m,): first names that are a whole name with the surname behind them."""
        # `Mary Shelley`, and neither `Sir Thomas More`, `James I` nor `Robert Louis Stevenson`.
        joined = _joined(tokens.rows, tokens.starts, tokens.ends)
        given = (kinds == MALE) | (kinds == FEMALE)
        capital_behind = np.append(is_capital[1:] & joined[1:], False)
        capital_before = np.append(False, is_capital[:-1] & joined[1:])
        whole = given[:-1] & ~given[1:] & capital_behind[:-1] & self.may_be_surname[ids[1:]]
        return np.flatnonzero(whole & ~capital_before[:-1] & ~capital_behind[1:])


@lru_cache(maxsize=2)
def entities_of(vocabulary: Vocabulary) -> Entities:
    """The entities of a vocabulary; kept, as it is."""
    table = vocabulary.table
    kinds, is_day = kinds_of_terms(table), matching(table, _DAYS)
    may_be = matching(table, _NAME) & ~matching(table, _ROMAN) & (table.cases != term_table.AS_IT_IS)
    may_be &= (kinds == NO_ENTITY) | (kinds == SURNAME)
    for name in ("no_surnames", "male_names", "female_names"):  # `Mary Joe`
        may_be &= ~among(table, word_set(name))

    named = np.flatnonzero(vocabulary.own_first(kinds) & (kinds != NO_ENTITY))
    days = np.flatnonzero(vocabulary.drawable & is_day)
    members = np.concatenate([named, days])
    member_kinds = np.concatenate([kinds[named], np.full(len(days), DAY)])
    order = np.lexsort((members, member_kinds))
    members, member_kinds = members[order], member_kinds[order]
    counts = table.document_frequency
    weights = np.ones(len(members)) if counts is None else counts[members].astype(np.float64)
    scores = TermTable(table.terms.take(members), table.idf[members], weights)
    kinds, is_day, may_be = np.append(kinds, NO_ENTITY), np.append(is_day, False), np.append(may_be, False)
    return Entities(kinds, is_day, may_be, members, member_kinds, scores)
