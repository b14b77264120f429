"""How replaced terms are drawn and written: the natural surface, and the paper's two.

`natural` replaces words by words and leaves alone what is between them: punctuation, brackets and halves of
contractions, with a straight apostrophe or a curly one. Terms are written as in most sentences:
`putin` becomes `Putin` wherever it is put. The paper's draws take every token for a term, whatever it is, and
any term of the window may replace it. `in-place` edits the original; `reference` gives the tokens in lower
case, joined by spaces, as the authors do.
"""

import dataclasses
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.entities import EntityContext
from augment_cli.augmentations.una.term_replacement import (
    TermReplacement,
    TermReplacementParameters,
    joins_background,
    put_in_place,
    radius_in_ranks,
)
from augment_cli.augmentations.una.vocabulary import Vocabulary, long_terms, spans_of, vocabulary_of
from augment_cli.augmentations.una.word_classes import (
    DAY,
    MONTH,
    NO_ENTITY,
    NUMBERS,
    WEEKDAY,
    kinds_of_terms,
    matching,
)
from augment_cli.contract.augmentation import Resources, avoided_words
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.english import BINDING, HEADLINE
from augment_cli.english.words import Words
from augment_cli.english.words.replaceable import may_be_replaced
from augment_cli.resources import END, START, load_collocations
from augment_cli.resources import tokens as plain_tokens
from augment_cli.text.spans import CodePoints, Edits, offsets_from_lengths, ranges
from augment_cli.text.surface import (
    AS_IT_IS,
    CAPITALISED,
    CAPITALS,
    LOWER,
    UPPER,
    case_pattern,
    character_classes,
    slices,
)
from augment_cli.tfidf.term_table import TermTable

DRAWS = 24  # before a position is left as it is
_LEAST_MET = 3  # times with each neighbour
_LEAST_FIT = -1.6  # a fifth as often beside each neighbour as the replaced word's counts would have it
_VOWEL_SOUND = (
    r"^(?:a|e(?:[^uw]|u?$)|i|o(?:[^n]|n(?:[^ce]|e[^-s]))|u(?:[^nstrbgk]|n(?:[^i]|i[mnd])|[strb][^aeiou])|"
    r"hour|heir|honest|honou?r)"
)
_SMALL_LETTERS = 3  # the fourth of `Vocabulary.surface_forms`
# What an apostrophe parts from a word; behind a straight one the tokeniser has them as one token each.
_BEHIND_APOSTROPHE = pa.array(["s", "t", "m", "d", "re", "ve", "ll"])


class Fitting:
    """Which terms `same = "pos"` replaces, and by which: by those that go with their neighbours.

    A class of terms says what a word can be, not what it is in a sentence. Its neighbours, by the shipped
    counts, tell more: a term that was often met beside them has the form and the frame that the place asks
    for, so the draw is repeated until one has. Compounds, expressions, quotations and texts with gaps stay.
    """

    def __init__(self, terms: TermTable, vocabulary: Vocabulary, keys: list[int]) -> None:
        self.keys = keys
        self._collocations = load_collocations()
        self._unknown = self._collocations.number("\0")
        self._own = np.append(self._numbers(terms.terms), self._unknown)
        self._new = self._numbers(vocabulary.table.terms)
        self._article = self._collocations.number("a")
        self._context = EntityContext(terms, vocabulary)
        kinds = kinds_of_terms(vocabulary.table)
        self._ids = vocabulary.own
        self._kinds = np.append(kinds, NO_ENTITY)[vocabulary.own]
        self._has_vowel = np.append(matching(vocabulary.table, _VOWEL_SOUND), False)
        self._start, self._end = (self._collocations.numbers[edge] for edge in (START, END))
        self._binds = np.append(np.isin(terms.terms.to_pylist(), list(BINDING)), False)
        # Names and numbers go by their kind: what stands beside one may beside another.
        self._is_free = kinds != NO_ENTITY

    def _numbers(self, terms: pa.Array) -> np.ndarray:
        table = self._collocations
        return np.array(
            [table.number("".join(plain_tokens(term)) or term) for term in terms.to_pylist()], np.int64
        )

    def is_replaceable(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """bool (N,): words that mean something by themselves, names and numbers that are no part of more."""
        words = Words.of(rows.code_points)
        alone = np.zeros(len(rows.code_points.values) + 1, bool)
        free = np.flatnonzero(may_be_replaced(words, None))
        alone[words.flat_starts[free]] = True
        starts, ends = spans_of(rows.code_points, tokens)
        if not len(starts):
            return np.zeros(0, bool)
        has_capital = character_classes()[rows.code_points.values[starts]] & UPPER > 0
        kinds = self._kinds[tokens.term_ids]
        of_itself = self._context.stands_alone(rows.code_points, tokens, kinds, has_capital)
        first = np.arange(len(starts)) == tokens.offsets[tokens.rows]
        # "the CAT" is an examination
        other, capitals = kinds == NO_ENTITY, case_pattern(rows.code_points, starts, ends) == CAPITALS
        return alone[starts] & ~(other & capitals) & (of_itself | (other & (~has_capital | first)))

    def fits(self, tokens: TokenRows, places: np.ndarray, new: np.ndarray) -> np.ndarray:
        """bool (m,): whether terms go with the neighbours of the tokens they stand for, as these do."""
        # None of them stands in the row already, nor behind `an` where it asks for `a`.
        numbers, last = self._own[tokens.term_ids], len(tokens.term_ids) - 1
        row, drawn = tokens.rows, np.maximum(new, 0)
        before, behind = np.maximum(places - 1, 0), np.minimum(places + 1, last)
        is_before = (places > 0) & (row[before] == row[places])
        left = np.where(is_before, numbers[before], self._start)
        right = np.where((behind > places) & (row[behind] == row[places]), numbers[behind], self._end)
        come, table = self._new[drawn], self._collocations
        met = np.minimum(table.together(left, come), table.together(come, right))
        likely = table.fit(numbers[places], come, left, right) >= _LEAST_FIT
        fits = ((met >= _LEAST_MET) & likely & (come != self._unknown)) | self._is_free[drawn]
        article = is_before & (left == self._article)
        own = self._ids[tokens.term_ids]
        fits &= ~article | (self._has_vowel[drawn] == self._has_vowel[own[places]])
        size = len(self._new) + 1
        present = np.append(np.unique(row * size + own), -1)
        wanted = row[places] * size + drawn
        is_there: np.ndarray = present[np.searchsorted(present[:-1], wanted)] == wanted
        return fits & (new >= 0) & ~is_there

    def mentions(self, tokens: TokenRows, eligible: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first mention of each token's word in its row, int64 (N,), and which tokens may be replaced."""
        # A name that comes again is replaced everywhere, or not at all; another word that does, never.
        keys = tokens.rows * len(self._kinds) + tokens.term_ids
        _, first, of, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        everywhere = np.bincount(of, eligible) == counts
        return first[of], eligible & ((counts == 1)[of] | (self._named(tokens) & everywhere[of]))

    def _named(self, tokens: TokenRows) -> np.ndarray:
        """bool (N,): names, but for those of months and days."""
        kinds = self._kinds[tokens.term_ids]
        named: np.ndarray = (kinds != NO_ENTITY) & (kinds < NUMBERS) & ~np.isin(kinds, (MONTH, WEEKDAY, DAY))
        return named

    def without_unrelated(self, tokens: TokenRows, places: np.ndarray, new: np.ndarray) -> np.ndarray:
        """`new` (m,), with −1 for names of a headline but for the first one that changes."""
        # "madrid open … johannesburg": nothing says how names without words between them hang together.
        owners = tokens.rows[places]
        bound = np.bincount(tokens.rows, self._binds[tokens.term_ids], len(tokens.offsets) - 1) > 0
        headline = ~bound & (np.diff(tokens.offsets) >= HEADLINE)
        names = np.flatnonzero((new >= 0) & self._named(tokens)[places] & headline[owners])
        _, first, of = np.unique(owners[names], return_index=True, return_inverse=True)
        result = new.copy()
        result[names[places[names] != places[names[first]][of]]] = -1
        return result


class NaturalReplacement(TermReplacement):
    """The surface `natural`."""

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        super().__init__(name, parameters, resources, opposite)
        self._joined = joins_background(parameters, self.terms)
        avoided = tuple(avoided_words(parameters.avoid).to_pylist())
        vocabulary = vocabulary_of(self.terms, self._joined, avoided, parameters.same, parameters.background)
        self._vocabulary = vocabulary
        self._radius = radius_in_ranks(parameters.radius, vocabulary.table)
        self._protected = self.kept()
        self._eligible = vocabulary.replaceable[vocabulary.own] & ~self._protected
        self._is_word = vocabulary.is_word[vocabulary.own]
        self._is_word[-1] = True  # terms that the table does not have mostly are
        self._fitting = None
        if parameters.same == "pos":
            keys = [resources.key(f"{name}/term/{number}") for number in range(1, DRAWS)]
            self._fitting = Fitting(self.terms, vocabulary, keys)
        self._not, self._apostrophe, self._is_behind_apostrophe = _contractions(self.terms)

    def weighed(self, tokens: TokenRows, eligible: np.ndarray) -> TokenRows:
        """With the shipped terms, weights by the counts of both; 0 for terms that are nowhere eligible."""
        if not self._joined:
            return tokens
        size, ids = len(self.terms) + 1, tokens.term_ids
        is_asked = np.zeros(size, bool)
        is_asked[ids[eligible]] = True
        asked = np.flatnonzero(is_asked[ids])
        rows, ids = tokens.rows[asked], ids[asked]
        _, inverse, counts = np.unique(rows * size + ids, return_inverse=True, return_counts=True)
        idf = np.append(self._vocabulary.table.idf[self._vocabulary.own[:-1]], 0.0)
        weights = np.zeros(len(tokens.weights))
        weights[asked] = np.log1p(counts[inverse] / np.diff(tokens.offsets)[rows]) * idf[ids]
        return dataclasses.replace(tokens, weights=weights)

    def eligible(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """Words; not the halves of contractions."""
        ids = tokens.term_ids
        eligible: np.ndarray = self._eligible[ids]
        glued = np.append(False, tokens.starts[1:] == tokens.ends[:-1])
        glued[tokens.offsets[:-1][np.diff(tokens.offsets) > 0]] = False
        if self._not >= 0:  # is + n't: the verb stays with its negation
            behind = np.flatnonzero((ids == self._not) & glued)
            eligible[behind - 1] = False
        if self._apostrophe >= 0:
            marks = np.flatnonzero((ids == self._apostrophe) & glued)
            marks = marks[marks + 1 < len(ids)]
            marks = marks[glued[marks + 1] & self._is_behind_apostrophe[ids[marks + 1]]]
            eligible[marks + 1] = False
            starts, ends = spans_of(rows.code_points, tokens, marks + 1)
            is_t = (ends - starts == 1) & (rows.code_points.values[starts] == ord("t"))
            eligible[marks[is_t] - 1] = False  # don + ’ + t
        if self._fitting is not None:
            eligible &= ~self._uncapitalised_names(rows, tokens, eligible)
            eligible &= self._fitting.is_replaceable(rows, tokens)
            _, eligible = self._fitting.mentions(tokens, eligible)
        return eligible

    def drawn_positions(self, rows: Rows, tokens: TokenRows, eligible: np.ndarray) -> np.ndarray:
        """With `same = "pos"` all mentions of a name, if one is drawn."""
        drawn = super().drawn_positions(rows, tokens, eligible)
        if self._fitting is None or not len(drawn):
            return drawn
        first, _ = self._fitting.mentions(tokens, eligible)
        return np.flatnonzero(eligible & np.isin(first, first[drawn]))

    def drawn_terms(self, rows: Rows, tokens: TokenRows, drawn: np.ndarray) -> np.ndarray:
        """With `same = "pos"` the first of several draws that goes with its neighbours."""
        if self._fitting is None:
            return super().drawn_terms(rows, tokens, drawn)
        drawn = self._fitting.mentions(tokens, np.ones(len(tokens.term_ids), bool))[0][drawn]
        new = super().drawn_terms(rows, tokens, drawn)
        fits = self._fitting.fits(tokens, drawn, new)
        for key in self._fitting.keys:
            rest = np.flatnonzero(~fits)
            if not len(rest):
                break
            again = drawn[rest]
            new[rest] = self.draw(tokens.term_ids[again], self._uniforms(key, rows, tokens, again))
            fits[rest] = self._fitting.fits(tokens, again, new[rest])
        return self._fitting.without_unrelated(tokens, drawn, np.where(fits, new, -1))

    def _uncapitalised_names(self, rows: Rows, tokens: TokenRows, eligible: np.ndarray) -> np.ndarray:
        """bool (N,): words that are names for the most part, but not here, such as `big`."""
        texts, result = rows.code_points, np.zeros(len(tokens.term_ids), bool)
        places = np.flatnonzero(eligible & self._vocabulary.is_name[self._vocabulary.own[tokens.term_ids]])
        first = texts.values[spans_of(texts, tokens, places)[0]]
        places = places[character_classes()[first] & LOWER > 0]
        some, number = np.unique(tokens.rows[places], return_inverse=True)
        result[places] = ~_without_capitals(texts, some)[number]
        return result

    def draw(self, ids: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Words of the window, or with `terms = "random"` of the whole class."""
        radius = None if self.parameters.terms == "random" else self._radius
        own = self._vocabulary.own[ids]
        return self._vocabulary.draw(own, radius, uniforms, self.parameters.include_self)

    def edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit for each replaced word."""
        places = new_ids + len(self._vocabulary.table) * self._forms(rows.code_points, tokens, chosen)
        replacements = self._vocabulary.surface_forms.take(pa.array(places))
        return put_in_place(rows, tokens, chosen, replacements)

    def _forms(self, texts: CodePoints, tokens: TokenRows, chosen: np.ndarray) -> np.ndarray:
        """int64 (m,): which of `surface_forms` stands in the place of each chosen token."""
        # A capital that the place asks for, at the beginning or in a title, is kept; one that belongs to
        # the name that stood there goes with it.
        pattern = _case_patterns(texts, tokens, chosen)
        ordinary = self._vocabulary.table.cases[self._vocabulary.own[tokens.term_ids[chosen]]] == AS_IT_IS
        first = self._begins(tokens, chosen)
        form = np.where(ordinary | (first & (pattern == CAPITALISED)), pattern, AS_IT_IS)
        # A text without capitals, as chats and queries are, gets none.
        owners = tokens.rows[chosen]
        begins = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
        small = _without_capitals(texts, owners[begins])[np.cumsum(begins) - 1]
        return np.where(small, _SMALL_LETTERS, form).astype(np.int64)

    def _begins(self, tokens: TokenRows, chosen: np.ndarray) -> np.ndarray:
        """bool (m,): tokens with no word before them in their row but for up to two marks."""
        counter = chosen - tokens.offsets[tokens.rows[chosen]]
        is_word = self._is_word[tokens.term_ids]
        first: np.ndarray = counter == 0
        marks = np.ones(len(chosen), bool)
        for before in (1, 2):
            marks &= ~is_word[np.maximum(chosen - before, 0)]
            first |= (counter == before) & marks
        return first


@lru_cache(maxsize=2)
def _contractions(terms: TermTable) -> tuple[int, int, np.ndarray]:
    """Ids of n't and ’, −1 for none, and bool (V+1,): terms that an apostrophe parts from a word."""
    # Kept, since finding terms in a large table takes long, and a worker asks with each part.
    ids = terms.ids_of(pa.concat_arrays([pa.array(["n't", "’"]), _BEHIND_APOSTROPHE]))
    is_behind = np.zeros(len(terms) + 1, bool)
    is_behind[ids[2:]] = True
    is_behind[-1] = False
    return int(ids[0]), int(ids[1]), is_behind


def _without_capitals(texts: CodePoints, rows: np.ndarray) -> np.ndarray:
    """bool (m,): which of some rows have no capital letter."""
    flags, starts = character_classes(), texts.offsets[rows]
    lengths = texts.offsets[rows + 1] - starts
    result = flags[texts.values[starts]] & UPPER == 0  # most sentences begin with one
    rest = np.flatnonzero(result)
    if len(rest):
        inside = flags[texts.values[ranges(starts[rest], lengths[rest])]] & UPPER
        first = np.cumsum(lengths[rest]) - lengths[rest]
        result[rest] = np.bitwise_or.reduceat(inside, first) == 0
    return result


def _case_patterns(texts: CodePoints, tokens: TokenRows, chosen: np.ndarray) -> np.ndarray:
    """int64 (m,): how the tokens `chosen` (m,) are written: as they are, with a capital, in capitals."""
    return case_pattern(texts, *spans_of(texts, tokens, chosen))


class PaperReplacement(TermReplacement):
    """The surfaces `in-place` and `reference`."""

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        super().__init__(name, parameters, resources, opposite)
        self._radius = radius_in_ranks(parameters.radius, self.terms)
        self._eligible = ~self.kept()
        # The authors' surface keeps addresses and encoded data, as the paper does.
        too_long = long_terms(self.terms)
        self._too_long = too_long if parameters.surface == "in-place" and too_long.any() else None

    def eligible(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """Every token that is not protected."""
        eligible: np.ndarray = self._eligible[tokens.term_ids]
        return eligible

    def draw(self, ids: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Terms of the window, or with `terms = "random"` of the whole table."""
        include_self = self.parameters.include_self
        if self.parameters.terms == "random":
            new_ids = self.terms.draw_any(ids, uniforms, include_self)
        else:
            new_ids = self.terms.draw_ids(ids, self._radius, uniforms, include_self)
        if self._too_long is not None:
            new_ids = np.where((new_ids >= 0) & self._too_long[new_ids], -1, new_ids)
        return new_ids

    def edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit for each replaced token, in the case pattern of what it replaces, or for each sentence."""
        if self.parameters.surface == "reference":
            return self._reference_edits(rows, tokens, chosen, new_ids)
        patterns = _case_patterns(rows.code_points, tokens, chosen)
        forms = pa.array(new_ids + len(self.terms) * patterns)
        return put_in_place(rows, tokens, chosen, self.terms.surface_forms.take(forms))

    def _reference_edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit over the whole sentence: lower-cased tokens joined by single spaces."""
        changed_ids = tokens.term_ids.copy()
        changed_ids[chosen] = new_ids
        differs = chosen[new_ids != tokens.term_ids[chosen]]
        changed_rows = np.unique(tokens.rows[differs])
        counts = np.diff(tokens.offsets)[changed_rows]
        index = ranges(tokens.offsets[changed_rows], counts)
        words, pool = changed_ids[index], self.terms.terms
        unknown = index[words < 0]
        if len(unknown):
            # A min-df table lacks these terms: their lower-cased source stands for them.
            source = slices(rows.code_points, *spans_of(rows.code_points, tokens, unknown))
            words[words < 0] = len(pool) + np.arange(len(source))
            pool = pa.concat_arrays([pool, pc.utf8_lower(source)])
        offsets = pa.array(offsets_from_lengths(counts), pa.int32())
        texts = pc.binary_join(pa.ListArray.from_arrays(offsets, pool.take(pa.array(words))), " ")
        ends = np.diff(rows.code_points.offsets)[changed_rows].astype(np.int32)
        edits = Edits(changed_rows, np.zeros(len(changed_rows), np.int32), ends, texts)
        return edits, differs


def prepare(
    name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
) -> TermReplacement:
    """The function over rows that the parameters ask for."""
    surface = NaturalReplacement if parameters.surface == "natural" else PaperReplacement
    return surface(name, parameters, resources, opposite)
