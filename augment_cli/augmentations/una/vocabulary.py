"""The terms that may be put into a sentence in the natural surface, and how each of them is written.

The paper draws from every token of the corpus, punctuation and halves of contractions among them. Here only
words are drawn, no vulgar ones, written as they mostly are inside sentences; in a small corpus the shipped
table of common terms joins the corpus's own, which would be too few to have neighbours of similar weight.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.word_classes import RULES, class_digests, classes_of
from augment_cli.resources import (
    WORD,
    collocations_digest,
    english_terms_digest,
    load_english_terms,
    word_list_digests,
    word_set,
)
from augment_cli.text.spans import offsets_from_lengths
from augment_cli.text.surface import CAPITALISED, CAPITALS, capitalised
from augment_cli.tfidf import term_table
from augment_cli.tfidf.term_table import TermTable

BACKGROUND_CHOICES = ("auto", "always", "none")
BACKGROUND_HELP = (
    "whether the shipped table of English terms joins the corpus's own; auto: in small corpora of general "
    "English"
)
MOSTLY = 0.6  # share of a corpus's words that the shipped table knows, from which the corpus is English
# Share of all that is written that the table knows, below which a corpus is of a domain of its own: 0.91 to
# 0.94 in titles of papers and of questions on programming, 0.95 to 1 in news, books, reviews and articles.
FAMILIAR = 0.95
LEAST_OWN = 1_000  # words of a corpus, from which its own have neighbours of similar weight
LEAST_NEIGHBOURS = 10  # places either side in a class of few words


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms with the places to draw them from."""

    table: TermTable  # all V terms: the corpus's own, or joined by the shipped ones
    own: np.ndarray  # from an id of the corpus's table to one of this; the last for −1
    is_word: np.ndarray  # terms that are words; the last for −1
    drawable: np.ndarray  # words that may be put into a sentence
    classes: np.ndarray  # A term is drawn for one of the same class only; −1 is never replaced or drawn

    @cached_property
    def replaceable(self) -> np.ndarray:
        """bool (V+1,): words of a class; the last for −1."""
        return self.is_word & np.append(self.classes >= 0, False)

    @cached_property
    def is_name(self) -> np.ndarray:
        """bool (V+1,): terms that are mostly written with a capital inside sentences; the last for −1."""
        return np.append(self.table.cases != term_table.AS_IT_IS, False)

    @cached_property
    def spellings(self) -> pa.StringArray:
        """V strings: the terms as they are written inside sentences."""
        return spelled(self.table)

    @cached_property
    def surface_forms(self) -> pa.StringArray:
        """4V strings: as written inside sentences, with a capital in front, in capitals, in small letters."""
        plain = self.spellings
        return pa.concat_arrays([plain, capitalised(plain), pc.utf8_upper(plain), self.table.terms])

    @cached_property
    def _members(self) -> np.ndarray:
        """Drawable terms, class by class, within each by rank."""
        members = np.flatnonzero(self.drawable & (self.classes >= 0))
        return members[np.argsort(self.classes[members], kind="stable")]

    @cached_property
    def _sorted_table(self) -> TermTable:
        """Their scores, to draw from."""
        members = self._members
        terms = self.table.terms.take(pa.array(members))
        return TermTable(terms, self.table.idf[members], self.table.max_score[members])

    @cached_property
    def _bounds(self) -> np.ndarray:
        """int64 (C+1,): members of class c are the places bounds[c] … bounds[c+1]−1."""
        count = int(self.classes.max(initial=-1)) + 1
        return offsets_from_lengths(np.bincount(self.classes[self._members], minlength=count))

    @cached_property
    def _own_places(self) -> np.ndarray:
        """int64 (V,): the place of each term among the members, or where it would be."""
        key = self.classes.astype(np.int64) * (len(self.table) + 1)
        members = self._members
        return np.searchsorted(key[members] + members, key + np.arange(len(self.table)))

    def draw(
        self, ids: np.ndarray, radius: int | None, uniforms: np.ndarray, include_self: bool
    ) -> np.ndarray:
        """Draw for each of some replaceable terms another of its class, with probability ∝ maximum score."""
        # int32 (m,): −1 where the class has no other term.
        place = self._own_places[ids]
        # One class for all takes no look-up for each of them.
        group = np.zeros(1, np.int64) if len(self._bounds) == 2 else self.classes[ids]
        first, end = self._bounds[group], self._bounds[group + 1]
        skipped = self.drawable[ids] & (not include_self)
        if radius is None:
            low, high, table = first, end, self._flat_table
        else:
            reach = self._reach(radius)[group]
            low, high = np.maximum(place - reach, first), np.minimum(place + reach + 1, end)
            table = self._sorted_table
        drawn = table.draw_between(low, high, place, skipped, uniforms)
        return np.where(drawn >= 0, self._members[drawn], -1).astype(np.int32)

    @cached_property
    def _flat_table(self) -> TermTable:
        table = self._sorted_table
        return TermTable(table.terms, table.idf, np.ones(len(table)))

    def _reach(self, radius: int) -> np.ndarray:
        """int64 (C,): places either side for each class."""
        sizes = np.diff(self._bounds)
        if len(sizes) == 1 or radius == 0:
            return np.full(len(sizes), radius)
        share = radius / max(len(self.table), 1)
        return np.maximum(np.round(share * sizes).astype(np.int64), LEAST_NEIGHBOURS)


@lru_cache(maxsize=2)
def vocabulary_of(
    own: TermTable, joined: bool, avoided: tuple[str, ...], longest: int, same: str
) -> Vocabulary:
    """The vocabulary of a term table; kept, since a worker needs the same one for each of its parts."""
    table, ids = joined_table(own) if joined else (own, np.append(np.arange(len(own)), -1))
    table = dataclasses.replace(table, cases=_known_cases(table))
    is_word = pc.match_substring_regex(table.terms, WORD)
    is_word = pc.and_not(is_word, pc.is_in(table.terms, word_set("term_fragments")))
    # `cards.` in the midst of a row of several sentences: the full stop would go with the word.
    is_word = pc.and_not(is_word, pc.match_substring_regex(table.terms, r"[.,;:!?…'’-]$"))
    drawable = pc.and_(is_word, pc.less_equal(pc.utf8_length(table.terms), longest))
    drawable = pc.and_not(drawable, pc.is_in(table.terms, pa.array(avoided, pa.string())))
    words, may_come = (mask.to_numpy(zero_copy_only=False) for mask in (is_word, drawable))
    classes = np.where(words, classes_of(table) if same == "pos" else 0, -1).astype(np.int32)
    return Vocabulary(table, ids.astype(np.int32), np.append(words, False), may_come, classes)


def vocabulary_digests(same: str) -> dict[str, Any]:
    """Digests of the shipped tables behind a vocabulary, for the fingerprint of what is made with it."""
    digests: dict[str, Any] = {"english_terms": english_terms_digest()} | word_list_digests("term_fragments")
    if same == "pos":
        fitting = {"collocations": collocations_digest()} | word_list_digests("fixed_phrases")
        digests |= class_digests() | fitting | {"rules": RULES}
    return digests


def joins(background: str, own: TermTable, small: int) -> bool:
    """Whether the shipped table joins a corpus's own."""
    if background == "auto":
        is_small = 0 < own.documents < small
        return is_small and is_english(own) and not _is_domain(own)
    return background == "always"


def background_note(background: str, own: TermTable, small: int) -> list[str]:
    """What a person is told where the shipped table joins, or would but for the corpus's domain."""
    if background != "auto" or not 0 < own.documents < small or not is_english(own):
        return []
    has = f"The corpus has {own.documents:,} sentences, fewer than {small:,}"
    knows = f"the shipped table knows {familiarity(own):.0%} of its words"
    if _is_domain(own):
        return [
            f"{has}, and {knows}: its domain has words of its own, so terms are drawn from these "
            f"{len(own):,} alone (`--background always` joins the table)."
        ]
    count = len(load_english_terms().terms)
    less = "" if familiarity(own) >= FAMILIAR else f"; {knows}, so common words will stand out among them"
    return [
        f"{has}: the shipped table of {count:,} common English terms joins its own {len(own):,}{less} "
        "(`--background none` does without)."
    ]


def is_english(own: TermTable) -> bool:
    """Whether the shipped table knows most of a corpus's words; of German ones it knows a quarter."""
    return _known(own)[0] >= MOSTLY


def familiarity(own: TermTable) -> float:
    """Share of a corpus's words that the shipped table knows, each by the sentences that have it."""
    return _known(own)[1]


def _is_domain(own: TermTable) -> bool:
    """Whether common English would be foreign in a corpus, which has enough words of its own."""
    return familiarity(own) < FAMILIAR and _known(own)[2] >= LEAST_OWN


@lru_cache(maxsize=2)
def _known(own: TermTable) -> tuple[float, float, int]:
    """Shares that the shipped table knows, of the words and of the sentences that have them; words."""
    is_word = pc.match_substring_regex(own.terms, r"^\pL+$")
    known = pc.is_in(own.terms.filter(is_word), load_english_terms().terms).to_numpy(zero_copy_only=False)
    if not len(known):
        return 0.0, 0.0, 0
    counts = own.document_frequency
    sentences = np.ones(len(known)) if counts is None else counts[is_word.to_numpy(zero_copy_only=False)]
    return float(known.mean()), float(sentences[known].sum() / max(sentences.sum(), 1)), len(known)


def joined_table(own: TermTable) -> tuple[TermTable, np.ndarray]:
    """A corpus's table and the shipped one as the table of both texts together."""
    # Sentence counts are added, and the larger of the two shares of a sentence gives the maximum score, as
    # a fit of both corpora would have it.
    # Beside it, int64 (V₀+1,): the new id of each of the corpus's; the last is −1.
    shipped = load_english_terms()
    place = pc.fill_null(pc.index_in(shipped.terms, own.terms), -1).to_numpy(zero_copy_only=False)
    new = np.flatnonzero(place < 0)
    extra = np.zeros(len(new), np.int64)
    counted = own.document_frequency
    frequency = np.concatenate([np.zeros(len(own), np.int64) if counted is None else counted, extra])
    shares = np.concatenate([own.shares, extra])
    cases = np.full(len(frequency), term_table.UNKNOWN, np.int8)
    if len(own.cases):
        cases[: len(own)] = own.cases
    at = place.copy()
    at[new] = len(own) + np.arange(len(new))
    frequency[at] += shipped.document_frequency
    shares[at] = np.maximum(shares[at], shipped.shares)
    idf = np.log((own.documents + shipped.sentences) / np.maximum(frequency, 1))
    score = np.log1p(shares) * idf
    order = np.argsort(-score, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    # The million know better how a word is written than a few sentences, where a title has it in capitals.
    cases[at] = shipped.cases
    mixed = {
        int(rank[number]): form for number, form in own.mixed.items() if cases[number] == term_table.MIXED
    }
    mixed |= {
        int(rank[at[number]]): form
        for number, form in enumerate(shipped.mixed.to_pylist())
        if form is not None
    }
    terms = pa.concat_arrays([own.terms, shipped.terms.take(pa.array(new))])
    table = TermTable(
        terms.take(pa.array(order)), idf[order], score[order], cases[order], mixed, frequency[order]
    )
    return table, np.append(rank[: len(own)], -1)


def spelled(table: TermTable) -> pa.StringArray:
    """V strings: the terms as they are mostly written inside sentences, by the cases of the table."""
    cases, result = table.cases, table.terms
    for case, change in ((CAPITALISED, capitalised), (CAPITALS, pc.utf8_upper)):
        if (chosen := cases == case).any():
            mask = pa.array(chosen)
            result = pc.replace_with_mask(result, mask, change(result.filter(mask)))
    places = np.array(sorted(table.mixed), np.int64)
    mask = np.zeros(len(table), bool)
    mask[places] = True
    values = pa.array([table.mixed[number] for number in places.tolist()], pa.string())
    return pc.replace_with_mask(result, pa.array(mask), values)


def _known_cases(table: TermTable) -> np.ndarray:
    """int8 (V,): as `tfidf.forms` has them, what is unknown taken from the shipped table, else a name."""
    shipped = load_english_terms()
    cases = np.full(len(table), term_table.UNKNOWN, np.int8) if not len(table.cases) else table.cases.copy()
    unknown = np.flatnonzero(cases == term_table.UNKNOWN)
    place = pc.fill_null(pc.index_in(table.terms.take(pa.array(unknown)), shipped.terms), -1)
    place = place.to_numpy(zero_copy_only=False)
    other = term_table.CAPITALISED if len(table.cases) else term_table.AS_IT_IS
    from_shipped = np.where(
        shipped.cases[place] == term_table.MIXED, term_table.CAPITALISED, shipped.cases[place]
    )
    cases[unknown] = np.where(place >= 0, from_shipped, other)
    return cases
