"""Where punctuation can go in: the places of the four rules of punctuation insertion.

Mao et al. 2022 (SDA), rules of PI in the reading that docs/reference/syntax-rules.md gives; every function
answers for all rows of a batch at once, with −1 where its rule finds no place.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, words

_FINAL_MARKS = ".!?…。！？"
_WEAK_FINAL_MARKS = ",;:，；：、-–—"  # the first six divide clauses
# Tags of words that need something behind them, so that no comma can follow.
_BEFORE_MORE = words("IN TO WDT WP WP$ WRB DT PDT PRP$ MD")
_RELATIVE_WORDS = words("WDT WP WP$ WRB IN")
_LONGEST_SUBJECT = 25
_CLOSERS = "\"'”’»›)]}」』）】》〉"
_PAIRED = "\"'‘’“”„«»‹›()[]{}<>「」『』（）【】《》〈〉`"
_DOUBLE_QUOTES = '"“”„«»「」『』'


@dataclass(frozen=True)
class PunctuationSites:
    """Places in a batch of n rows with N tokens; spans are code points of the row's text."""

    view: ClauseView

    @cached_property
    def is_mark(self) -> np.ndarray:
        """bool (N,): punctuation marks; not a word or white space that a tagger took for one."""
        called = (self.view.roles == Role.PUNCTUATION) | self.view.parses.pos.among({"PUNCT"})
        tokens = np.flatnonzero(called)
        words = self.view.parses.forms_at(tokens).where(
            lambda form: form.isspace() or any(map(str.isalnum, form))
        )
        called[tokens[words]] = False
        return called

    @cached_property
    def is_closing_gap(self) -> np.ndarray:
        """bool (N,): words with a word behind, and a space between where the language has them."""
        parses = self.view.parses
        last = self.view.mask(parses.offsets[1:][np.diff(parses.offsets) > 0] - 1)
        return self._spaced & ~last & ~self.is_mark & ~self._is_space & ~np.append(self.is_mark[1:], True)

    @cached_property
    def _spaced(self) -> np.ndarray:
        """bool (N,): tokens with a space behind, and all tokens of a language without spaces."""
        without = self.view.in_language(lambda language: not language.has_spaces)
        return self.view.parses.whitespace | without[self.view.rows]

    @cached_property
    def clause(self) -> np.ndarray:
        """int64 (n,): the token behind which the comma of a subordinate clause goes (rule 1)."""
        # The row's first subordinate clause: before it, or behind it where it opens the row. Three signs of
        # a wrong parse rule a clause out: it is one word; it begins with its finite verb; a word stands in
        # front that cannot end a phrase. So does a relative clause that must be restrictive.
        view, parses = self.view, self.view.parses
        heads = view.first(view.clauses)
        rows = np.flatnonzero(heads >= 0)
        heads = heads[rows]
        left, right = (edge[heads] for edge in view.edges)
        opens = left == parses.offsets[:-1][rows]
        behind = self._before_space(np.where(opens, right, left - 1))
        finite = (view.verb_forms[heads] > VerbForm.NONE) & (view.verb_forms[heads] <= VerbForm.MODAL)
        wrong = (left == right) | (finite & (left == heads))
        wrong |= ~opens & (parses.tags.among(_BEFORE_MORE) | parses.pos.among({"ADP", "SCONJ"}))[behind]
        # No comma parts a noun from a relative clause with "that", or with no relative word at all.
        linked = parses.tags.among(_RELATIVE_WORDS)[left] & ~parses.lower_at(left).among({"that"})
        wrong |= ~opens & view.relatives[heads] & ~linked
        for language, mine in view.by_language:
            if (language.shortest_clause or language.joining) and mine[rows].any():
                adverbial = right - left < language.shortest_clause
                wrong |= mine[rows] & (adverbial | parses.pos.among(language.joining)[behind])
        return self._at_gaps(rows[~wrong], behind[~wrong])

    @cached_property
    def _subjects(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """int64 (m,) each: rows with a subject whose span can be trusted; its first and last token."""
        # Signs of a wrong parse: it begins with a preposition or conjunction, has a comma in front of its
        # noun, or is very long.
        view, parses = self.view, self.view.parses
        rows = np.flatnonzero(view.subjects >= 0)
        heads = view.subjects[rows]
        left, right = (edge[heads] for edge in view.edges)
        marks = np.flatnonzero(self.is_mark)
        divides = np.zeros(len(self.is_mark) + 1, np.int64)
        divides[marks + 1] = parses.forms_at(marks).where(lambda form: form[-1] in _WEAK_FINAL_MARKS[:6])
        before = np.cumsum(divides)
        wrong = (parses.tags.among({"WRB"}) | parses.pos.among({"ADP", "SCONJ", "CCONJ"}))[left]
        wrong |= before[heads] > before[left]
        wrong |= right - left >= _LONGEST_SUBJECT
        return rows[~wrong], left[~wrong], right[~wrong]

    @cached_property
    def subject_ends(self) -> np.ndarray:
        """int64 (n,): the last token of the subject's subtree, if a comma can stand behind it (rule 2)."""
        rows, _, right = self._subjects
        in_front = right < self.view.roots[rows]
        return self._at_gaps(rows[in_front], self._before_space(right[in_front]))

    @cached_property
    def _is_space(self) -> np.ndarray:
        """bool (N,): tokens of white space, which spaCy makes of a second space or a tab."""
        return self.view.parses.pos.among({"SPACE"})

    def _before_space(self, tokens: np.ndarray) -> np.ndarray:
        return tokens - self._is_space[tokens]

    def _at_gaps(self, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        behind = np.full(len(self.view.parses), -1)
        open_gap = self.is_closing_gap[tokens]
        behind[rows[open_gap]] = tokens[open_gap]
        return behind

    @cached_property
    def quotations(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: first and last token of the subject to be put in quotation marks (rule 2)."""
        view, parses = self.view, self.view.parses
        first, last = np.full((2, len(parses)), -1)
        rows, left, right = self._subjects
        right = self._before_space(right)
        # A comma that closes the span stays outside.
        closes = parses.forms_at(right).where(lambda form: form in _CLOSERS)
        right = right - (self.is_mark[right] & (right > view.subjects[rows]) & ~closes)
        held = self._holds_quote
        before = np.concatenate([[0], np.cumsum(held)])
        clean = before[right + 1] == before[left]
        clean &= ~self.is_mark[left] & ~self._is_space[left] & (right >= left)
        spaced = self._spaced
        in_front = np.where(left > parses.offsets[:-1][rows], spaced[left - 1], True)
        in_front |= self.is_mark[left - 1]
        behind = spaced[right] | np.append(self.is_mark, True)[right + 1]
        behind |= right + 1 == parses.offsets[1:][rows]
        good = clean & in_front & behind
        first[rows[good]], last[rows[good]] = left[good], right[good]
        return first, last

    @cached_property
    def _holds_quote(self) -> np.ndarray:
        held = np.zeros(len(self.is_mark), bool)
        marks = np.flatnonzero(self.is_mark | self.view.parses.pos.among({"SYM", "X"}))
        held[marks] = self.view.parses.forms_at(marks).where(
            lambda form: any(character in _DOUBLE_QUOTES for character in form) or "''" in form
        )
        return held

    @cached_property
    def final(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: the token of the final mark (rule 4), or −1; the row's last token, or −1."""
        # Closing quotation marks and brackets behind the final mark are passed over.
        parses, count = self.view.parses, len(self.view.parses)
        last = np.where(np.diff(parses.offsets) > 0, parses.offsets[1:] - 1, -1)
        current, marks = last.copy(), np.full(count, -1)
        undecided = np.flatnonzero(current >= 0)
        for _ in range(4):  # ." and .") and the like; nobody closes more than that
            if not len(undecided):
                break
            token = current[undecided]
            words = parses.forms_at(token)
            is_mark = words.where(lambda form: form[-1:] in _FINAL_MARKS + _WEAK_FINAL_MARKS)
            is_mark &= self.is_mark[token]
            marks[undecided[is_mark]] = token[is_mark]
            closes = ~is_mark & words.where(lambda form: form in _CLOSERS or form == "''" or form.isspace())
            closes &= token > parses.offsets[:-1][undecided]
            undecided = undecided[closes]
            current[undecided] -= 1
        return marks, last

    @cached_property
    def repeated(self) -> np.ndarray:
        """int64 (n,): the first mark of rule 3, not final, not inside a word, and not one of a pair."""
        parses, rows = self.view.parses, self.view.rows
        in_front = np.append(False, parses.whitespace[:-1])[: len(rows)]
        in_front |= np.arange(len(rows)) == parses.offsets[:-1][rows]
        loose = np.flatnonzero(self._inner_marks & (in_front | self._spaced))
        paired = parses.forms_at(loose).where(lambda form: form[:1] in _PAIRED)
        return self.view.first(self.view.mask(loose[~paired]))

    @cached_property
    def repeated_literally(self) -> np.ndarray:
        """int64 (n,): the first punctuation mark that is not the final one, of whatever kind."""
        return self.view.first(self._inner_marks)

    @cached_property
    def _inner_marks(self) -> np.ndarray:
        marks, last = self.final
        end = np.where(marks >= 0, marks, last)
        return self.is_mark & (np.arange(len(self.is_mark)) < end[self.view.rows])
