"""What the rules of `rephrase` see of a batch: Universal Dependencies as arrays, phrases as spans."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.english.rephrasing import CLAUSE, EVERY, PHRASE, Columns, Edit, Mask, Places, Span
from augment_cli.english.words.word_edits import common_words, loses_capital
from augment_cli.resources import word_list
from augment_cli.syntax.clauses import subtree_edges
from augment_cli.syntax.parses import Coded, ParseRows
from augment_cli.syntax.tree import first_of, words
from augment_cli.text.spans import ranges

SUBJECTS = frozenset({"nsubj", "nsubj:pass"})
FINITE = frozenset({"VBD", "VBZ", "VBP"})
NEGATIONS = words("not n't n’t never no nothing nobody neither nor hardly")
_NAMED = frozenset({"NNP", "NNPS"})
# With one of these in it, the parts of a sentence are not moved.
HEAVY_MARKS = words("\" “ ” „ « » '' `` ( ) [ ] { } ; : – — -- … ... ! ? / ‘ ’ ' `")
TIMES = frozenset(word_list("nouns_of_time"))


@dataclass(frozen=True)
class Grammar:
    """The parses of n rows with N tokens; a span is first and last token, both included."""

    parses: ParseRows

    # --- tokens

    @property
    def rows(self) -> np.ndarray:
        """int64 (N,): row of each token."""
        return self.parses.rows

    @property
    def parents(self) -> np.ndarray:
        """int64 (N,): head of each token; its own for a root."""
        return self.parses.parents

    def __len__(self) -> int:
        return len(self.parses.starts)

    @cached_property
    def places(self) -> np.ndarray:
        """int64 (N,): 0 … N−1."""
        return np.arange(len(self))

    def is_tag(self, *tags: str, at: np.ndarray | None = None) -> np.ndarray:
        """bool (N,), or (m,) of the tokens `at`: whether they have one of some fine tags."""
        return self._among("tags", tags, at)

    def is_pos(self, *pos: str, at: np.ndarray | None = None) -> np.ndarray:
        """bool (N,), or (m,) of the tokens `at`: whether they have one of some coarse tags."""
        return self._among("pos", pos, at)

    def is_dep(self, *labels: str, at: np.ndarray | None = None) -> np.ndarray:
        """bool (N,), or (m,) of the tokens `at`: whether they have one of some relations."""
        return self._among("deps", labels, at)

    def is_word(self, wanted: Collection[str], at: np.ndarray | None = None) -> np.ndarray:
        """bool (N,), or (m,) of the tokens `at`: whether they are, in lower case, one of some words."""
        return self._among("lower", wanted, at)

    def is_lemma(self, wanted: Collection[str], at: np.ndarray | None = None) -> np.ndarray:
        """bool (N,), or (m,) of the tokens `at`: whether they have one of some lemmas."""
        return self._among("lemmas", wanted, at)

    def _among(self, kind: str, wanted: Collection[str], at: np.ndarray | None) -> np.ndarray:
        strings: Coded = getattr(self.parses, kind)
        if at is not None:
            return strings.at(at).among(wanted)
        key = (kind, frozenset(wanted))
        if key not in self._masks:
            self._masks[key] = strings.among(wanted)
            self._masks[key].flags.writeable = False  # other rules read it, too
        return self._masks[key]

    @cached_property
    def _masks(self) -> dict[tuple[str, frozenset[str]], np.ndarray]:
        """Answers about all tokens, which several rules ask for."""
        return {}

    @cached_property
    def is_mark(self) -> np.ndarray:
        """bool (N,): punctuation."""
        return self.is_pos("PUNCT", "SPACE")

    @cached_property
    def is_comma(self) -> np.ndarray:
        """bool (N,): commas."""
        return self.is_word({","})

    @cached_property
    def is_verb(self) -> np.ndarray:
        """bool (N,): verbs and auxiliaries."""
        return self.is_pos("VERB", "AUX")

    @cached_property
    def is_name(self) -> np.ndarray:
        """bool (N,): names."""
        return self.is_pos("PROPN")

    @cached_property
    def asks(self) -> np.ndarray:
        """bool (N,): question words and relatives."""
        return self.is_tag("WP", "WDT", "WRB", "WP$")

    @cached_property
    def is_finite(self) -> np.ndarray:
        """bool (N,): verbs and predicates that are finite, by themselves or by their auxiliary."""
        helper = self.is_dep("aux", "aux:pass", "cop") & self.is_tag(*FINITE, "MD")
        return (self.is_tag(*FINITE) & self.is_verb) | self.has_child(helper)

    @cached_property
    def is_year(self) -> np.ndarray:
        """bool (N,): numbers of four figures, and decades."""
        return self.where_figures(
            lambda word: word.removesuffix("s").isdigit() and len(word.removesuffix("s")) == 4
        )

    def where_figures(self, test: Callable[[str], bool]) -> np.ndarray:
        """bool (N,): tokens that begin with a figure, in ASCII, and pass a test."""
        return self.parses.lower.where(lambda word: word.isascii() and word[:1].isdigit() and test(word))

    @cached_property
    def is_time(self) -> np.ndarray:
        """bool (N,): nouns that say when, and years."""
        return self.is_lemma(TIMES) | self.is_year

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (N,) each: first and last token of every token's subtree."""
        lengths = np.diff(self.parses.offsets)
        return subtree_edges(self.parents, int(lengths.max(initial=0)))

    @cached_property
    def is_alone(self) -> np.ndarray:
        """bool (N,): tokens without dependents."""
        return self.edges[0] == self.edges[1]

    def child(self, mask: np.ndarray) -> np.ndarray:
        """int64 (N,): first dependent of each token among those of a mask (N,), or −1."""
        found = np.full(len(self), -1)
        tokens = np.flatnonzero(mask & (self.parents != self.places))[::-1]
        found[self.parents[tokens]] = tokens
        return found

    def has_child(self, mask: np.ndarray) -> np.ndarray:
        """bool (N,): tokens with a dependent in a mask (N,)."""
        found = np.zeros(len(self), bool)
        found[self.parents[np.flatnonzero(mask & (self.parents != self.places))]] = True
        return found

    def next_in_row(self, tokens: np.ndarray, step: int = 1) -> np.ndarray:
        """int64 (m,): the token some places further, or the token itself where the row ends before."""
        further = np.clip(tokens + step, 0, max(len(self) - 1, 0))
        return np.where(self.rows[further] == self.rows[tokens], further, tokens)

    # --- spans

    def trimmed(self, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Span of each head's subtree (m,), without the punctuation at its ends."""
        left, right = (edge[heads] for edge in self.edges)
        after, before = self._words_around
        return np.minimum(after[left], heads), np.maximum(before[right], heads)

    @cached_property
    def _words_around(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (N,) each: first token from each on, and last up to it, that is no punctuation."""
        after = np.minimum.accumulate(np.where(self.is_mark, len(self), self.places)[::-1])[::-1]
        return after, np.maximum.accumulate(np.where(self.is_mark, -1, self.places))

    def phrases(self, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The tokens of a mask (N,), the first and last token of each one's subtree, and its row."""
        heads = np.flatnonzero(mask)
        return heads, *self.trimmed(heads), self.rows[heads]

    def count(self, mask: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64 (m,): for how many tokens of each span a mask (N,) holds; 0 for empty spans."""
        lengths = np.maximum(right - left + 1, 0)
        owner = np.repeat(np.arange(len(left)), lengths)
        return np.bincount(owner[mask[ranges(left, lengths)]], minlength=len(left))

    def is_whole(self, heads: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """bool (m,): spans that hold, but for the head, dependents of their own words alone."""
        lengths = np.maximum(right - left + 1, 0)
        owner = np.repeat(np.arange(len(heads)), lengths)
        tokens = ranges(left, lengths)
        parents = self.parents[tokens]
        inside = (parents >= left[owner]) & (parents <= right[owner])
        strange = ~inside & (tokens != heads[owner]) & ~self.is_mark[tokens]
        return (np.bincount(owner[strange], minlength=len(heads)) == 0) & (lengths > 0)

    # --- rows

    @property
    def openings(self) -> np.ndarray:
        """int64 (n,): first token of each row."""
        return self.parses.offsets[:-1]

    def filled(self, least: int = 1) -> np.ndarray:
        """int64 (m,): first token of each row with some tokens."""
        return self.openings[np.diff(self.parses.offsets) >= least]

    def first(self, mask: np.ndarray) -> np.ndarray:
        """int64 (n,): first token of each row in a mask (N,), or −1."""
        return first_of(np.flatnonzero(mask), self.rows, len(self.parses))

    def rows_with(self, mask: np.ndarray) -> np.ndarray:
        """bool (n,): rows with a token in a mask (N,)."""
        return self.per_row(mask) > 0

    def per_row(self, mask: np.ndarray) -> np.ndarray:
        """int64 (n,): how many tokens of each row are in a mask (N,)."""
        return np.bincount(self.rows[mask], minlength=len(self.parses))

    @cached_property
    def roots(self) -> np.ndarray:
        """int64 (n,): the root of a row that is one sentence with one root, else −1."""
        is_root = self.parents == self.places
        one = (self.per_row(is_root) == 1) & (self.per_row(self.parses.sentence_starts) <= 1)
        return np.where(one, self.first(is_root), -1)

    @cached_property
    def of_root(self) -> np.ndarray:
        """bool (N,): children of their row's root."""
        return (self.parents == self.roots[self.rows]) & (self.parents != self.places)

    @cached_property
    def is_root(self) -> np.ndarray:
        """bool (N,): roots of rows that have one alone."""
        return self.places == self.roots[self.rows]

    @cached_property
    def ends(self) -> np.ndarray:
        """int64 (n,): last token in front of the closing punctuation, or −1."""
        last = np.full(len(self.parses), -1)
        tokens = np.flatnonzero(~self.is_mark)
        last[self.rows[tokens]] = tokens
        return last

    @cached_property
    def is_statement(self) -> np.ndarray:
        """bool (n,): one sentence with a finite main verb that ends with a full stop, no quotation mark."""
        stop = self.parses.offsets[1:] - 1
        ends = self.ends
        good = (self.roots >= 0) & (ends >= 0) & (stop == ends + 1)
        good[good] &= self.is_word({"."}, at=stop[good])
        finite = self.is_tag(*FINITE, "MD") & self.is_verb
        auxiliary = finite & self.of_root & self.is_dep("aux", "aux:pass", "cop")
        return good & (finite[self.roots] | self.rows_with(auxiliary))

    @cached_property
    def is_plain(self) -> np.ndarray:
        """bool (n,): statements without quotation marks, brackets, semicolons, colons and dashes."""
        heavy = self.is_word(HEAVY_MARKS) & ~self.is_tag("POS", "HYPH")
        heavy |= self.is_dep("parataxis")
        return self.is_statement & ~self.rows_with(heavy)

    @cached_property
    def subjects(self) -> np.ndarray:
        """int64 (n,): subject (or "there") in front of the main verb, a plain one, or −1."""
        subject = self.first(self.of_root & self.is_dep("nsubj", "nsubj:pass", "expl"))
        good = (subject >= 0) & (subject < self.roots) & ~self.asks[subject]
        heads = np.where(good, subject, 0)
        if not len(self):
            return subject
        left, right = self.trimmed(heads)
        good &= self.is_whole(heads, left, right) & (right < self.roots)
        return np.where(good, subject, -1)

    @cached_property
    def subject_spans(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: first and last token of the subject; only where there is one."""
        return self.trimmed(np.maximum(self.subjects, 0))

    @cached_property
    def opens_with_subject(self) -> np.ndarray:
        """bool (n,): rows whose first token is the first of the subject."""
        return (self.subjects >= 0) & (self.subject_spans[0] == self.openings)

    @cached_property
    def takes_front(self) -> np.ndarray:
        """bool (n,): plain statements that something may be put in front of."""
        return self.is_plain & self.opens_with_subject & self.knows_capital

    @cached_property
    def is_negated(self) -> np.ndarray:
        """bool (n,): rows with a word of negation."""
        return self.rows_with(self.is_word(NEGATIONS))

    def is_plural(self, heads: np.ndarray) -> np.ndarray:
        """bool (m,): noun phrases that a verb agrees with in the plural."""
        plural = self.is_tag("NNS", "NNPS") | self.is_word({"they", "we", "you", "these", "those"})
        joined = self.has_child(self.is_dep("conj")) & self.has_child(self.has_child(self.is_word({"and"})))
        return (plural | joined)[heads]

    # --- texts

    @cached_property
    def _strings(self) -> list[str]:
        data, bounds = self.parses.texts.data.tobytes(), self.parses.texts.byte_offsets.tolist()
        return [data[low:high].decode() for low, high in pairwise(bounds)]

    @cached_property
    def starts(self) -> list[int]:
        """First code point of each token in its row's text."""
        return self.parses.starts.tolist()

    @cached_property
    def stops(self) -> list[int]:
        """End of each token in its row's text."""
        return self.parses.ends.tolist()

    @cached_property
    def _row_of(self) -> list[int]:
        return self.rows.tolist()

    # --- places, with their edits

    def replaced(
        self, rule: str, kind: int, columns: Columns, text: Callable[..., str], good: Mask = EVERY
    ) -> Places:
        """Spans from the first to the last of the columns, replaced by what a function of these says."""

        def write(*place: Any) -> list[Edit]:
            return [self.edit(place[0], place[-1], text(*place))]

        return Places(rule, kind, [(columns[0], columns[-1])], columns, write).where(good)

    def inserted(self, rule: str, kind: int, span: Span, text: str, good: Mask = EVERY) -> Places:
        """A text behind the first token of spans."""
        return Places(rule, kind, [span], span, lambda token, _: [self.put_behind(token, text)]).where(good)

    def put_in(self, rule: str, tokens: np.ndarray, text: Callable[[int], str], good: np.ndarray) -> Places:
        """A text before tokens, by what a function of the token says."""

        def write(token: int) -> list[Edit]:
            return [self.put_before(token, text(token))]

        return Places(rule, PHRASE, [(tokens, tokens)], (tokens,), write).where(good)

    def moved_behind(
        self, rule: str, claims: Sequence[Span], columns: Columns, text: Callable[..., str]
    ) -> Places:
        """Openings of sentences that go, up to the subject, and of which a text is put in behind a place."""
        # The columns are the opening, the subject's first token, the place, and what else `text` takes.

        def write(opening: int, subject: int, place: int, *more: Any) -> list[Edit]:
            return [
                self.edit(opening, subject, self.in_front(subject, subject, opening)),
                self.put_behind(place, text(opening, *more)),
            ]

        return Places(rule, CLAUSE, claims, columns, write)

    def inside(self, rule: str, columns: Columns, good: np.ndarray, text: Callable[[int], str]) -> Places:
        """Openings that go, of which a text is put in behind a place inside: `He then turned`."""
        opening, subject, place = columns
        return self.moved_behind(rule, [(opening, subject), (place, place)], columns, text).where(good)

    def edit(self, first: int, last: int, text: str) -> Edit:
        """A text in the place of a span."""
        return self.starts[first], self.stops[last], text

    def cut(self, first: int, last: int) -> Edit:
        """A span taken out, with the space in front of it."""
        return self.stops[first - 1], self.stops[last], ""

    def drop(self, first: int, last: int) -> Edit:
        """A span taken out, with the space behind it."""
        return self.starts[first], self.starts[last + 1], ""

    def put_before(self, token: int, text: str) -> Edit:
        """A text before a token."""
        return self.starts[token], self.starts[token], text

    def put_behind(self, token: int, text: str) -> Edit:
        """A text behind a token."""
        return self.stops[token], self.stops[token], text

    def text(self, first: int, last: int | None = None) -> str:
        """The text of a span, or of one token."""
        last = first if last is None else last
        return self._strings[self._row_of[first]][self.starts[first] : self.stops[last]]

    def text_at(self, row: int, place: int) -> str:
        """The character of a row at a code point; "" at its end."""
        return self._strings[row][place : place + 1]

    def has_text(self, token: int, text: str) -> bool:
        """Whether a text occurs anywhere in the row of a token."""
        return text in self._strings[self._row_of[token]]

    def around(self, first: int, last: int) -> tuple[str, str]:
        """The text of a row in front of a span, and that behind it."""
        text = self._strings[self._row_of[first]]
        return text[: self.starts[first]], text[self.stops[last] :]

    def between(self, left: int, right: int) -> str:
        """What stands between two tokens."""
        return self._strings[self._row_of[left]][self.stops[left] : self.starts[right]]

    def inward(self, first: int, last: int | None = None) -> str:
        """The text of a span for inside the sentence: a capital that only marked its beginning goes."""
        text = self.text(first, last)
        return text[:1].lower() + text[1:] if self._gives_up_capital[first] else text

    def in_front(self, first: int, last: int, place: int) -> str:
        """The text of a span for where the token `place` stands: with a capital at the beginning."""
        if first == place or not self._begins[place]:
            return self.text(first, last)
        return upper_first(self.text(first, last))

    def capital(self, text: str, place: int) -> str:
        """A text for where the token `place` stands, with a capital if that one begins a sentence."""
        return text[:1].upper() + text[1:] if self._begins[place] else text

    @cached_property
    def _begins(self) -> list[bool]:
        """Whether each token is the first of its row and has a capital."""
        begins, filled = np.zeros(len(self), bool), self.filled()
        begins[filled] = ~self.parses.forms_at(filled).where(str.islower)
        return begins.tolist()

    @cached_property
    def _first_words(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """First token of each row (m,): whether it may be written small, is tagged a name, has one behind."""
        filled = self.filled()
        forms = self.parses.forms_at(filled)
        common = loses_capital(pa.array(forms.values, pa.string()))[forms.codes]
        plural = self.is_tag("NNS", at=filled) & forms.where(str.istitle)
        common |= plural & self.is_lemma(common_words(), filled)
        named = self.parses.tags.among(_NAMED)
        function = self.is_pos("DET", "PRON", "ADP", "ADV", "SCONJ", "CCONJ", "AUX", "PART", at=filled)
        function |= self.is_word(frozenset(word_list("function_words")), filled)
        return filled, common, named[filled], named[self.next_in_row(filled)] & ~function

    @cached_property
    def _gives_up_capital(self) -> list[bool]:
        """Whether each token has a capital because it begins its row."""
        gives = np.zeros(len(self), bool)
        filled, common, named, followed = self._first_words
        gives[filled] = common & ~named & ~followed
        return gives.tolist()

    @cached_property
    def knows_capital(self) -> np.ndarray:
        """bool (n,): rows whose first word may stand elsewhere; not `Hail`, a noun that is tagged a name."""
        filled, common, named, followed = self._first_words
        noun = self.is_tag("NN", "NNS", at=filled) & self.parses.forms_at(filled).where(str.istitle)
        knows = np.ones(len(self.parses), bool)
        knows[self.rows[filled]] = ~((common & named & ~followed) | (noun & ~common))
        return knows


def upper_first(text: str) -> str:
    """A text with its first letter as a capital, unless its first word has one inside (iPhone)."""
    word = text.split(" ", 1)[0]
    return text if any(map(str.isupper, word)) else text[:1].upper() + text[1:]
