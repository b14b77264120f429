"""The rules of `rephrase`: each file finds places for some rules and writes the edits of those chosen.

`grammar.py` is what they see of a parse; here is what they return, and how places that collide are settled.
Labels are those of Universal Dependencies, as the shipped pipeline gives them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

Edit = tuple[int, int, str]
Span = tuple[np.ndarray, np.ndarray]
Columns = Sequence[np.ndarray]
Mask = np.ndarray | slice
CLAUSE, PHRASE, WORD = range(3)
EVERY = slice(None)


@dataclass(frozen=True)
class Places:
    """Where one rule applies in a batch."""

    rule: str  # its name
    kind: int  # CLAUSE (at most one a sentence), PHRASE or WORD
    # first and last token of every stretch that the rule changes; empty where last < first; the first stretch
    # begins in the row that is changed
    claims: Sequence[Span]
    # from what the columns have of a place to its edits: start and end (code points of the row's text), text
    columns: Sequence[Sequence[Any] | np.ndarray]
    write: Callable[..., list[Edit]]

    @classmethod
    def of_edits(cls, rule: str, listed: Sequence[tuple[int, int, list[Edit]]]) -> "Places":
        """Places of a rule on clauses of which the edits are known: first token, last token, edits."""
        first, last = (np.array([place[column] for place in listed], np.int64) for column in (0, 1))
        edits = np.empty(len(listed), object)
        edits[:] = [place[2] for place in listed]
        return cls(rule, CLAUSE, [(first, last)], (edits,), list)

    def __len__(self) -> int:
        return len(self.claims[0][0])

    def where(self, good: Mask) -> "Places":
        """Some of the places, by a bool mask."""
        claims = [(first[good], last[good]) for first, last in self.claims]
        return replace(self, claims=claims, columns=[np.asarray(column)[good] for column in self.columns])


@dataclass(frozen=True)
class Choice:
    """All places of all rules in one list, numbered from 0."""

    found: Sequence[Places]
    rows_of_tokens: np.ndarray  # int64 (N,)

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (m,): row of each place."""
        return self.rows_of_tokens[self.first_tokens]

    @cached_property
    def kinds(self) -> np.ndarray:
        """int64 (m,): kind of each place."""
        return np.array([places.kind for places in self.found], np.int64)[self.rules]

    @cached_property
    def rules(self) -> np.ndarray:
        """int64 (m,): number of each place's rule."""
        return _joined([np.full(len(places), number) for number, places in enumerate(self.found)])

    @cached_property
    def first_tokens(self) -> np.ndarray:
        """int64 (m,): first token that each place claims."""
        return _joined([places.claims[0][0] for places in self.found])

    def without_collisions(self, order: np.ndarray) -> np.ndarray:
        """The places of `order` that take no token that an earlier one of the order has."""
        # A second place of the kind CLAUSE is left out, too.
        # `order` (k,) has numbers of places, those of a row from the first to be considered to the last.
        rows, kinds = self.rows[order], self.kinds[order]
        by_row = np.argsort(rows, kind="stable")
        order, rows, kinds = order[by_row], rows[by_row], kinds[by_row]
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        rank = np.arange(len(rows)) - np.repeat(begins, np.diff(np.append(begins, len(rows))))
        spans = self._spans()
        taken = np.zeros(len(self.rows_of_tokens), bool)
        has_clause = np.zeros(int(rows.max(initial=-1)) + 1, bool)
        keep = np.zeros(len(order), bool)
        for turn in range(int(rank.max(initial=-1)) + 1):
            mine = np.flatnonzero(rank == turn)
            before = np.append(0, np.cumsum(taken))
            free = ~((kinds[mine] == CLAUSE) & has_clause[rows[mine]])
            for first, last in spans:
                first, last = first[order[mine]], last[order[mine]]
                free &= before[np.maximum(last + 1, first)] == before[first]
            mine = mine[free]
            keep[mine] = True
            has_clause[rows[mine[kinds[mine] == CLAUSE]]] = True
            taken |= self._covered([(first[order[mine]], last[order[mine]]) for first, last in spans])
        return order[keep]

    def _covered(self, spans: list[Span]) -> np.ndarray:
        """bool (N,): tokens of some spans."""
        steps = np.zeros(len(self.rows_of_tokens) + 1, np.int64)
        for first, last in spans:
            filled = last >= first
            steps += np.bincount(first[filled], minlength=len(steps))
            steps -= np.bincount(last[filled] + 1, minlength=len(steps))
        return np.cumsum(steps)[:-1] > 0

    def _spans(self) -> list[Span]:
        """Claims of all places; places with fewer of them get empty ones."""
        empty = [(np.zeros(len(places), np.int64), np.full(len(places), -1)) for places in self.found]
        spans = []
        for pairs in zip_longest(*(places.claims for places in self.found)):
            own = [pair or nothing for pair, nothing in zip(pairs, empty, strict=True)]
            spans.append((_joined([first for first, _ in own]), _joined([last for _, last in own])))
        return spans

    def written(self, chosen: np.ndarray) -> Iterator[tuple[int, str, list[Edit]]]:
        """Row, rule and edits of some places."""
        bounds = np.cumsum([0, *map(len, self.found)])
        for places, low, high in zip(self.found, bounds[:-1], bounds[1:], strict=True):
            mine = chosen[(chosen >= low) & (chosen < high)] - low
            rows = self.rows_of_tokens[places.claims[0][0][mine]]
            for row, number in zip(rows.tolist(), mine.tolist(), strict=True):
                yield row, places.rule, places.write(*(column[number] for column in places.columns))


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
