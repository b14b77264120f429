"""Constituents as spans that can be moved: trimmed, whole, and in the case that their new place asks for."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from augment_cli.english.words.word_edits import loses_capital
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import Coded
from augment_cli.syntax.sites import PunctuationSites
from augment_cli.text.surface import capitalised_where, slices, uncapitalised_where

_DIVIDERS = frozenset({",", ";", ":", "-", "–", "—", "--", ".", "…", "..."})
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_QUOTES = {"“": 1, "«": 1, "„": 1, "”": -1, "»": -1}
_STRAIGHT = dict.fromkeys(('"', "''", "``"), 1)


@dataclass(frozen=True)
class Constituents:
    """Spans of tokens in n rows with N tokens; a span is first and last token, both included."""

    view: ClauseView

    @cached_property
    def is_mark(self) -> np.ndarray:
        """bool (N,): punctuation marks, and tokens that are white space."""
        return PunctuationSites(self.view).is_mark | self.is_space

    @cached_property
    def is_space(self) -> np.ndarray:
        """bool (N,): tokens that are white space, as pipelines make of a second space."""
        return self.view.parses.pos.among({"SPACE"}) | self.view.parses.tags.among({"_SP"})

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: first and last word of each row, −1 where it has none."""
        last, words = np.full(len(self.view.parses), -1), np.flatnonzero(~self.is_mark)
        last[self.view.rows[words]] = words
        return self.view.first(~self.is_mark), last

    @cached_property
    def commas(self) -> np.ndarray:
        """bool (N,): commas."""
        return self._marks_among({","})

    @cached_property
    def is_hyphen(self) -> np.ndarray:
        """bool (N,): hyphens and slashes, which join words."""
        return self._marks_among({"-", "–", "/", "‐"})

    @cached_property
    def colons(self) -> np.ndarray:
        """bool (N,): colons and semicolons."""
        return self._marks_among({":", ";"})

    @cached_property
    def dividers(self) -> np.ndarray:
        """bool (N,): marks that divide and belong to neither side: commas, colons, dashes, full stops."""
        return self._marks_among(_DIVIDERS) | self.is_space

    def _marks_among(self, wanted: Collection[str]) -> np.ndarray:
        marks, forms = self._marks
        return self.view.mask(marks[forms.among(wanted)])

    @cached_property
    def _marks(self) -> tuple[np.ndarray, Coded]:
        marks = np.flatnonzero(self.is_mark)
        return marks, self.view.parses.forms_at(marks)

    def trimmed(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Spans (m,) without the dividers at their ends; empty ones come out with left > right."""
        kept = np.flatnonzero(~self.dividers)
        after = np.append(kept, len(self.is_mark))[np.searchsorted(kept, left)]
        before = np.append(-1, kept)[np.searchsorted(kept, right, "right")]
        return after, before

    def are_whole(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """bool (m,): whether brackets and double quotation marks inside each span are pairs."""
        whole = left <= right
        left = np.minimum(left, len(self.is_mark))
        upper = np.maximum(right + 1, left)
        for sums, modulus in self._depths:
            difference = sums[upper] - sums[left]
            whole &= (difference % modulus if modulus else difference) == 0
        return whole

    @cached_property
    def _depths(self) -> list[tuple[np.ndarray, int]]:
        marks, forms = self._marks
        depths = []
        for steps, modulus in ((_BRACKETS, 0), (_QUOTES, 0), (_STRAIGHT, 2)):
            sums = np.zeros(len(self.is_mark) + 1, np.int64)
            sums[marks + 1] = forms.numbered(steps)
            depths.append((np.cumsum(sums), modulus))
        return depths

    @cached_property
    def quotation(self) -> np.ndarray:
        """int64 (N,): 0 for tokens outside double quotation marks, another number inside."""
        (_, _), (curly, _), (straight, _) = self._depths
        offsets = self.view.parses.offsets
        curly, straight = (
            sums[:-1] - np.repeat(sums[offsets[:-1]], np.diff(offsets)) for sums in (curly, straight)
        )
        return curly * 2 + (straight & 1)

    def closed(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Last tokens of spans (m,), with the bracket or quotation mark behind that closes them."""
        behind = np.minimum(right + 1, len(self.is_mark) - 1)
        closes = (self.view.rows[behind] == self.view.rows[right]) & self.is_mark[behind]
        closes &= ~self.are_whole(left, right) & self.are_whole(left, behind) & (left <= right)
        return np.where(closes, behind, right)

    def count(self, mask: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64 (m,): for how many tokens of each span `mask` (N,) holds; 0 for empty spans."""
        positions = np.flatnonzero(mask)
        return np.searchsorted(positions, np.maximum(right + 1, left)) - np.searchsorted(positions, left)

    def opens(self, left: np.ndarray) -> np.ndarray:
        """bool (m,): whether a span begins with the first word of its row."""
        return left == self.bounds[0][self.view.rows[left]]

    def strings(
        self,
        left: np.ndarray,
        right: np.ndarray,
        inwards: np.ndarray | bool = False,
        to_front: np.ndarray | bool = False,
    ) -> list[str]:
        """Texts of spans (m,) for another place."""
        # `inwards` (m,): it leaves the beginning of its sentence, and a capital that only marked it goes.
        # `to_front` (m,): it comes to the beginning, and gets a capital if the sentence had one.
        parses, rows = self.view.parses, self.view.rows[left]
        base = parses.texts.offsets[rows]
        strings = slices(parses.texts, base + parses.starts[left], base + parses.ends[right])
        lowered, raised = np.zeros((2, len(left)), bool)
        inner = np.flatnonzero(np.broadcast_to(inwards, len(left)))
        lowered[inner] = self._loses_capital(left[inner])
        begins = parses.forms_at(self.bounds[0][rows])
        front = np.flatnonzero(to_front & ~begins.where(lambda form: form[:1].islower()))
        raised[front] = parses.forms_at(left[front]).where(str.islower)  # not iPhone
        return capitalised_where(uncapitalised_where(strings, lowered), raised).to_pylist()

    def _loses_capital(self, tokens: np.ndarray) -> np.ndarray:
        """bool (m,): words whose capital is that of the sentence's beginning, not of a name."""
        parses = self.view.parses
        if not len(tokens):
            return np.zeros(0, bool)
        forms = parses.forms_at(tokens).compacted()
        common = loses_capital(pa.array(forms.values, pa.string()))[forms.codes]
        capital = parses.forms_at(self.view.behind(tokens)).where(lambda form: form[:1].isupper())
        joined = capital & self.view.has_behind(tokens)
        function = parses.pos.among({"DET", "PRON", "ADP", "ADV", "SCONJ", "CCONJ", "AUX", "PART"})[tokens]
        name = parses.tags.among({"NNP", "NNPS"})[tokens] & ~forms.lowered().among(_ARTICLES)
        return common & ~name & (~joined | function)


_ARTICLES = frozenset({"the", "a", "an"})
