"""Where punctuation can go in: the places of the four rules of punctuation insertion.

Mao et al. 2023 (SDA), rules of PI in the reading that docs/rules.md gives; every function answers for all
rows of a batch at once, with −1 where its rule finds no place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augment_cli.syntax.clauses import ClauseView, Language
from augment_cli.syntax.tree import Role

_FINAL_MARKS = ".!?…。！？"
_WEAK_FINAL_MARKS = ",;:，；：、-–—"
_CLOSERS = "\"'”’»›)]}」』）】》〉"
_DOUBLE_QUOTES = '"“”„«»「」『』'


@dataclass(frozen=True)
class PunctuationSites:
    """Places in a batch of n rows with N tokens; spans are code points of the row's text.

    Attributes
    ----------
    view : ClauseView
    """

    view: ClauseView

    @cached_property
    def is_mark(self) -> np.ndarray:
        """bool (N,): punctuation marks."""
        return (self.view.roles == Role.PUNCTUATION) | self.view.parses.pos.among({"PUNCT"})

    @cached_property
    def is_closing_gap(self) -> np.ndarray:
        """bool (N,): tokens behind which a mark may stand: a word, then a space (none in Chinese), then a word."""
        parses = self.view.parses
        last = np.zeros(len(self.is_mark), bool)
        last[parses.offsets[1:][np.diff(parses.offsets) > 0] - 1] = True
        spaced = parses.whitespace | (self.view.languages == Language.CHINESE)[parses.rows]
        return spaced & ~last & ~self.is_mark & ~np.append(self.is_mark[1:], True)

    @cached_property
    def clause(self) -> np.ndarray:
        """int64 (n,): the token behind which the comma of a subordinate clause goes (rule 1).

        The row's first subordinate clause: before it, or behind it where it opens the row.
        """
        view = self.view
        heads = view.first(view.clauses)
        found = np.flatnonzero(heads >= 0)
        left, right = (edge[heads[found]] for edge in view.edges)
        opens = left == view.parses.offsets[:-1][found]
        behind = np.where(opens, right, left - 1)
        return self._at_gaps(found, behind)

    @cached_property
    def subject_ends(self) -> np.ndarray:
        """int64 (n,): the last token of the subject's full subtree, where a comma may stand behind it (rule 2)."""
        found = np.flatnonzero(self.view.subjects >= 0)
        return self._at_gaps(found, self.view.edges[1][self.view.subjects[found]])

    def _at_gaps(self, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        behind = np.full(len(self.view.parses), -1)
        open_gap = self.is_closing_gap[tokens]
        behind[rows[open_gap]] = tokens[open_gap]
        return behind

    @cached_property
    def quotations(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: first and last token of the subject to be put in quotation marks (rule 2)."""
        view, parses = self.view, self.view.parses
        first, last = (np.full(len(parses), -1) for _ in range(2))
        rows = np.flatnonzero(view.subjects >= 0)
        left, right = (edge[view.subjects[rows]] for edge in view.edges)
        # A comma that closes the span stays outside.
        right = right - (self.is_mark[right] & (right > view.subjects[rows]) & ~self._closes(right))
        held = self._holds_quote
        before = np.concatenate([[0], np.cumsum(held)])
        clean = before[right + 1] == before[left]
        clean &= ~self.is_mark[left]
        spaced = parses.whitespace | (self.view.languages == Language.CHINESE)[parses.rows]
        in_front = np.where(left > parses.offsets[:-1][rows], spaced[left - 1], True)
        in_front |= self.is_mark[left - 1]
        behind = spaced[right] | np.append(self.is_mark, True)[right + 1]
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

    def _closes(self, tokens: np.ndarray) -> np.ndarray:
        return self.view.parses.forms_at(tokens).where(lambda form: form in _CLOSERS)

    @cached_property
    def final(self) -> tuple[np.ndarray, np.ndarray]:
        """Rule 4: int64 (n,) the token that holds the final mark, or −1; int64 (n,) the row's last token, or −1.

        Closing quotation marks and brackets behind the final mark are passed over.
        """
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
            closes = ~is_mark & words.where(lambda form: form in _CLOSERS or form == "''")
            closes &= token > parses.offsets[:-1][undecided]
            undecided = undecided[closes]
            current[undecided] -= 1
        return marks, last

    @cached_property
    def repeated(self) -> np.ndarray:
        """int64 (n,): the first punctuation mark that is not final nor inside a word (rule 3)."""
        parses, rows = self.view.parses, self.view.rows
        marks, last = self.final
        end = np.where(marks >= 0, marks, last)
        inside = self.is_mark & (np.arange(len(rows)) < end[rows])
        in_front = np.append(True, parses.whitespace[:-1]) if len(rows) else parses.whitespace
        chinese = (self.view.languages == Language.CHINESE)[rows]
        return self.view.first(inside & (in_front | parses.whitespace | chinese))
