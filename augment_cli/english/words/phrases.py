"""Finding phrases of one or more words: a trie over words as arrays, the longest match from the left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.english.words.words import Words


@dataclass(frozen=True)
class Matches:
    """Phrases found in some texts, in order, none overlapping another."""

    first: np.ndarray  # index of the first and of the last word
    last: np.ndarray
    phrases: np.ndarray  # which phrase

    def where(self, keep: np.ndarray) -> "Matches":
        """Some of the matches, by a bool mask or by indices."""
        return Matches(self.first[keep], self.last[keep], self.phrases[keep])

    def __len__(self) -> int:
        return len(self.first)


class Trie:
    """Sequences of words as arrays: from a state, by a word's number, to the next."""

    def __init__(self, phrases: Iterable[Sequence[str]]) -> None:
        self.symbols: dict[str, int] = {}
        edges: dict[tuple[int, int], int] = {}
        ends: dict[int, int] = {}
        for number, phrase in enumerate(phrases):
            state = 0
            for word in phrase:
                symbol = self.symbols.setdefault(word, len(self.symbols))
                state = edges.setdefault((state, symbol), len(edges) + 1)
            ends.setdefault(state, number)
        keys = np.array([state * len(self.symbols) + symbol for state, symbol in edges], np.int64)
        order = np.argsort(keys)
        self._keys, self._targets = keys[order], np.array(list(edges.values()), np.int64)[order]
        self.ends = np.full(len(edges) + 1, -1, np.int64)  # which phrase ends at each state
        self.ends[list(ends)] = list(ends.values())

    def step(self, states: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """The next state of each, −1 where there is none."""
        keys = states * len(self.symbols) + symbols
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where((symbols >= 0) & (self._keys[places] == keys), self._targets[places], -1)

    def matches(
        self, begins: np.ndarray, symbols: Sequence[np.ndarray], follows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First word, last word and number of all sequences: by their first word, the longest first."""
        # Of each word (N,) what it is at the beginning, what it is further on (any of `symbols`), and
        # whether it goes on from the word in front.
        first = np.flatnonzero(begins >= 0)
        states = self.step(np.zeros(len(first), np.int64), begins[first])
        first, states = first[states >= 0], states[states >= 0]
        place, follows = first, np.append(follows, False)
        found = [(first[:0], first[:0], first[:0])]
        while len(first):
            number = self.ends[states]
            done = number >= 0
            found.append((first[done], place[done], number[done]))
            goes_on = follows[place + 1]
            first, place, states = first[goes_on], place[goes_on] + 1, states[goes_on]
            reached = [self.step(states, of_kind[place]) for of_kind in symbols]
            states = np.concatenate(reached)
            first, place = (np.tile(column, len(symbols))[states >= 0] for column in (first, place))
            states = states[states >= 0]
        first, last, numbers = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((-last, first))
        return first[order], last[order], numbers[order]


class PhraseTable(Trie):
    """Phrases to look for; words are compared in lower case and separated by white space alone."""

    def __init__(self, phrases: Sequence[str]) -> None:
        super().__init__(phrase.lower().split(" ") for phrase in phrases)
        self._words = pa.array(list(self.symbols), pa.string())

    def find(self, words: Words) -> Matches:
        """All phrases of some texts: the leftmost, and of those the longest."""
        tokens = words.index_in(self._words)
        return _without_overlaps(*self.matches(tokens, (tokens,), words.follows_space))


def _without_overlaps(first: np.ndarray, last: np.ndarray, phrases: np.ndarray) -> Matches:
    """Keep each match that begins behind the last one kept; matches come by start, the longest first."""
    keep = np.ones(len(first), bool)
    if len(first) > 1 and (first[1:] <= last[:-1]).any():
        reached = -1
        for index, (start, stop) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            keep[index] = start > reached
            if keep[index]:
                reached = stop
    return Matches(first[keep], last[keep], phrases[keep])


def character_after(words: Words, index: np.ndarray) -> np.ndarray:
    """uint32 (m,): the character behind each word, 0 at its text's end."""
    places, high = words.flat_ends[index], words.texts.offsets[words.rows[index] + 1]
    values = words.texts.values
    return np.where(places < high, values[np.minimum(places, len(values) - 1)], 0)


def character_before(words: Words, index: np.ndarray) -> np.ndarray:
    """uint32 (m,): the character before each word, 0 at its text's beginning."""
    places, low = words.flat_starts[index], words.texts.offsets[words.rows[index]]
    return np.where(places > low, words.texts.values[np.maximum(places - 1, 0)], 0)


def last_mark_before(words: Words, index: np.ndarray) -> np.ndarray:
    """uint32 (m,): the last character before each word that is not a space, 0 at its text's beginning."""
    places, low = words.flat_starts[index] - 1, words.texts.offsets[words.rows[index]]
    values = words.texts.values
    is_space = np.isin(values[np.maximum(places, 0)], (0x20, 0xA0)) & (places >= low)
    places = places - is_space
    return np.where(places >= low, values[np.maximum(places, 0)], 0)


def is_any(characters: np.ndarray, marks: str) -> np.ndarray:
    """bool (m,): whether each character is one of `marks`."""
    return np.isin(characters, [ord(mark) for mark in marks])


def lower_strings(words: Words, index: np.ndarray) -> list[str]:
    """The words (m,) in lower case, ’ as '; those of another text, or out of range, are to be masked."""
    codes, distinct = words.lower
    return distinct.take(pa.array(codes[index])).to_pylist()


def next_words(words: Words, index: np.ndarray) -> list[str | None]:
    """The word behind each, in lower case, where only white space stands between; else None."""
    following = np.minimum(index + 1, max(len(words) - 1, 0))
    near = (index + 1 < len(words)) & words.follows_space[following]
    behind = zip(lower_strings(words, following), near, strict=True)
    return [word if is_near else None for word, is_near in behind]
