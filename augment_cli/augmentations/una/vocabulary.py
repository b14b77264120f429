"""The terms that may be put into a sentence in the natural surface, and how each of them is written.

The paper draws from every token of the corpus, punctuation and halves of contractions among them. Here only
words are drawn, no vulgar ones, written as they mostly are inside sentences. In a small corpus the shipped
table of common terms joins the corpus's own, to weigh them, and to be drawn from where these are too few.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.word_classes import (
    RULES,
    among,
    class_digests,
    classes_of,
    matching,
    place_in,
)
from augment_cli.contract.augmentation import avoided_digest
from augment_cli.contract.rows import TokenRows
from augment_cli.resources import (
    WORD,
    collocations_digest,
    english_terms_digest,
    load_english_terms,
    word_list_digests,
    word_set,
)
from augment_cli.text.spans import CodePoints, offsets_from_lengths
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
OWN_FIRST = 1  # the rule that a corpus's own words are drawn before the shipped ones; in the settings
LEAST_NEIGHBOURS = 10  # places either side in a class of few words
SMALL_CORPUS = 20_000  # sentences, below which the shipped table joins the corpus's own
LONGEST_TERM = 100  # characters; the longest word of a dictionary has 45


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms with the places to draw them from."""

    table: TermTable  # all V terms: the corpus's own, or joined by the shipped ones
    own: np.ndarray  # from an id of the corpus's table to one of this; the last for −1
    is_word: np.ndarray  # terms that are words; the last for −1
    drawable: np.ndarray  # words that may be put into a sentence
    classes: np.ndarray  # A term is drawn for one of the same class only; −1 is never replaced or drawn
    prefers_own: bool = False  # whether shipped terms are drawn only where the corpus's own are too few
    has_enough: bool = False  # whether the corpus has words enough of its own

    @cached_property
    def replaceable(self) -> np.ndarray:
        """bool (V+1,): words of a class; the last for −1."""
        return self.is_word & np.append(self.classes >= 0, False)

    @cached_property
    def is_name(self) -> np.ndarray:
        """bool (V+1,): terms that are mostly written with a capital inside sentences; the last for −1."""
        return np.append(self.table.cases != term_table.AS_IT_IS, False)

    @cached_property
    def surface_forms(self) -> pa.StringArray:
        """4V strings: as written inside sentences, with a capital in front, in capitals, in small letters."""
        plain = spelled(self.table)
        return pa.concat_arrays([plain, capitalised(plain), pc.utf8_upper(plain), self.table.terms])

    def own_first(self, classes: np.ndarray) -> np.ndarray:
        """bool (V,): what is drawn; shipped terms only of classes (V,) of which the corpus has too few."""
        count = int(classes.max(initial=-1)) + 1
        if not self.prefers_own or (count == 1 and not self.has_enough):
            return self.drawable
        is_own = np.zeros(len(self.table), bool)
        is_own[self.own[:-1]] = True
        members = np.bincount(classes[self.drawable & is_own & (classes >= 0)], minlength=max(count, 1))
        return self.drawable & (is_own | (members < LEAST_NEIGHBOURS)[classes])

    @cached_property
    def _members(self) -> np.ndarray:
        """Terms that are drawn, class by class, within each by rank."""
        members = np.flatnonzero(self.own_first(self.classes) & (self.classes >= 0))
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
        if radius == 0 or (len(sizes) == 1 and not (self.prefers_own and self.has_enough)):
            return np.full(len(sizes), radius)
        share = radius / max(len(self.table), 1)
        return np.maximum(np.round(share * sizes).astype(np.int64), LEAST_NEIGHBOURS)


@lru_cache(maxsize=2)
def vocabulary_of(
    own: TermTable, joined: bool, avoided: tuple[str, ...], same: str, background: str = "auto"
) -> Vocabulary:
    """The vocabulary of a term table; kept, since a worker needs the same one for each of its parts."""
    table, ids = joined_table(own) if joined else (own, np.append(np.arange(len(own)), -1))
    table = dataclasses.replace(table, cases=_known_cases(table))
    # `cards.` in the midst of a row of several sentences: the full stop would go with the word.
    words = matching(table, WORD) & ~matching(table, r"[.,;:!?…'’-]$")
    words &= ~among(table, word_set("term_fragments"))
    drawable = words & ~long_terms(table) & ~among(table, pa.array(avoided, pa.string()))
    classes = np.where(words, classes_of(table) if same == "pos" else 0, -1).astype(np.int32)
    first = joined and background != "always"  # who asks for the shipped terms gets them
    enough = has_enough(own)
    return Vocabulary(table, ids.astype(np.int32), np.append(words, False), drawable, classes, first, enough)


def long_terms(terms: TermTable) -> np.ndarray:
    """bool (V,): the terms of more than `LONGEST_TERM` characters, which are no words (addresses, data)."""
    return pc.greater(pc.utf8_length(terms.terms), LONGEST_TERM).to_numpy(zero_copy_only=False)


def vocabulary_settings(parameters: Any, own: TermTable, same: str = "any") -> dict[str, Any]:
    """What decides a vocabulary, as digests: the shipped tables and lists behind it, the words to avoid."""
    digests: dict[str, Any] = {"english_terms": english_terms_digest()} | word_list_digests("term_fragments")
    if same == "pos":
        fitting = {"collocations": collocations_digest()} | word_list_digests("fixed_phrases")
        digests |= class_digests() | fitting | {"rules": RULES}
    digests["avoid"] = avoided_digest(parameters.avoid)
    if not joins(parameters.background, own):
        return digests | {"background": None}
    prefers_own = parameters.background != "always" and (same != "any" or has_enough(own))
    first = {"own_first": OWN_FIRST} if prefers_own else {}
    return digests | {"background": english_terms_digest()} | first


def spans_of(
    texts: CodePoints, tokens: TokenRows, chosen: np.ndarray | slice = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Where some tokens (m,), or all, begin and end in the flattened texts."""
    base = texts.offsets[tokens.rows[chosen]]
    return base + tokens.starts[chosen], base + tokens.ends[chosen]


def joins(background: str, own: TermTable) -> bool:
    """Whether the shipped table joins a corpus's own."""
    return background == "always" or (background == "auto" and _is_small(own) and not _is_domain(own))


def has_enough(own: TermTable) -> bool:
    """Whether a corpus has words enough of its own to draw from."""
    return _known(own)[2] >= LEAST_OWN


def background_note(background: str, own: TermTable) -> list[str]:
    """What a person is told where the shipped table joins, or would but for the corpus's domain."""
    if background != "auto" or not _is_small(own):
        return []
    _, familiar, _ = _known(own)
    has = f"The corpus has {own.documents:,} sentences, fewer than {SMALL_CORPUS:,}"
    knows = f"the shipped table knows {familiar:.0%} of its words"
    if _is_domain(own):
        return [
            f"{has}, and {knows}: its domain has words of its own, so terms are drawn from these "
            f"{len(own):,} alone (`--background always` joins the table)."
        ]
    count = len(load_english_terms().terms)
    less = "" if familiar >= FAMILIAR else f"; {knows}, so common words will stand out among them"
    return [
        f"{has}: the shipped table of {count:,} common English terms joins its own {len(own):,}{less} "
        "(`--background none` does without)."
    ]


def _is_small(own: TermTable) -> bool:
    """Whether an English corpus is small; of German words the shipped table knows a quarter."""
    return 0 < own.documents < SMALL_CORPUS and _known(own)[0] >= MOSTLY


def _is_domain(own: TermTable) -> bool:
    """Whether common English would be foreign in a corpus, which has enough words of its own."""
    return _known(own)[1] < FAMILIAR and has_enough(own)


@lru_cache(maxsize=2)
def _known(own: TermTable) -> tuple[float, float, int]:
    """Shares that the shipped table knows, of the words and of the sentences that have them; words."""
    is_word = matching(own, r"^\pL+$")
    known = among(own, load_english_terms().terms)[is_word]
    if not len(known):
        return 0.0, 0.0, 0
    counts = own.document_frequency
    sentences = np.ones(len(known)) if counts is None else counts[is_word]
    return float(known.mean()), float(sentences[known].sum() / max(sentences.sum(), 1)), len(known)


def joined_table(own: TermTable) -> tuple[TermTable, np.ndarray]:
    """A corpus's table and the shipped one as the table of both texts together."""
    # Sentence counts are added, and the larger of the two shares of a sentence gives the maximum score, as
    # a fit of both corpora would have it.
    # Beside it, int64 (V₀+1,): the new id of each of the corpus's; the last is −1.
    shipped = load_english_terms()
    at = place_in(shipped.terms, own.terms)
    new = np.flatnonzero(at < 0)
    at[new] = len(own) + np.arange(len(new))
    extra = np.zeros(len(new), np.int64)
    counted = np.zeros(len(own), np.int64) if own.document_frequency is None else own.document_frequency
    frequency, shares = np.concatenate([counted, extra]), np.concatenate([own.shares, extra])
    cases = np.full(len(frequency), term_table.UNKNOWN, np.int8)
    if len(own.cases):
        cases[: len(own)] = own.cases
    frequency[at] += shipped.document_frequency
    shares[at] = np.maximum(shares[at], shipped.shares)
    idf = np.log((own.documents + shipped.sentences) / np.maximum(frequency, 1))
    score = np.log1p(shares) * idf
    order = np.argsort(-score, kind="stable")
    rank = np.argsort(order)
    # The million know better how a word is written than a few sentences, where a title has it in capitals.
    cases[at] = shipped.cases
    mixed = {number: form for number, form in own.mixed.items() if cases[number] == term_table.MIXED}
    mixed |= {at[number]: form for number, form in enumerate(shipped.mixed.to_pylist()) if form is not None}
    terms = pa.concat_arrays([own.terms, shipped.terms.take(pa.array(new))]).take(pa.array(order))
    ranked = {int(rank[number]): form for number, form in mixed.items()}
    table = TermTable(terms, idf[order], score[order], cases[order], ranked, frequency[order])
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
    known = np.where(shipped.cases == term_table.MIXED, term_table.CAPITALISED, shipped.cases)
    place = place_in(table.terms, shipped.terms)
    other = term_table.CAPITALISED if len(table.cases) else term_table.AS_IT_IS
    found = np.where(place >= 0, known[place], other).astype(np.int8)
    return np.where(table.cases == term_table.UNKNOWN, found, table.cases) if len(table.cases) else found
