"""Words of sentences, as spans of the text: what word-level augmentations move and replace, and phrases.

A word is a stretch between white space, brackets, double quotation marks and dashes, without the
punctuation at its ends: `don't`, `well-known`, `3.5`, `AT&T`, `$5`, `50%` and `U.S.` are one word each,
and commas, full stops and quotation marks never are. The Treebank tokens of the TF-IDF stages would
tear contractions and amounts apart, and deleting half of `can't` helps nobody.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources import word_set, word_table
from augment_cli.text.spans import CodePoints, ascending_slices, ranges, strings_of
from augment_cli.text.surface import UPPER, character_classes, slices

_SEPARATOR, _LETTER, _SYMBOL, _SPACE, _HYPHEN, _PERIOD = 1, 2, 4, 8, 16, 32
_CORE = _LETTER | _SYMBOL
# Marks that part words although no space stands beside them.
_SEPARATORS = '()[]{}<>"“”„«»‹›—–―…|*=~^\\'
# Signs that belong to the word they touch: $5, 50%, #tag, @name, C++, 5°, R&B, x_y.
_SYMBOLS = "%‰°#@+&_§"
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-")
_NO_PREFIX = frozenset({"pressed", "different", "tent", "tense", "cited", "closed", "related", "responsible"})
_COMPLEMENTS = frozenset(map(frozenset, word_table("complements")))


@lru_cache(maxsize=1)
def _flags() -> np.ndarray:
    """uint8 flags of every code point (a pure table)."""
    kinds = dict.fromkeys("LMN", _LETTER) | {"Z": _SEPARATOR | _SPACE, "Cc": _SEPARATOR}
    kinds |= {"Sc": _SYMBOL, "So": _SYMBOL}
    categories = [unicodedata.category(chr(code)) for code in range(0x110000)]
    by_category = {name: kinds.get(name, kinds.get(name[0], 0)) for name in set(categories)}
    flags = np.fromiter(map(by_category.__getitem__, categories), np.uint8, len(categories))
    flags[[ord(character) for character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"]] = _SEPARATOR | _SPACE
    for marks, kind in ((_SEPARATORS, _SEPARATOR), (_SYMBOLS, _SYMBOL), ("-", _HYPHEN), (".", _PERIOD)):
        flags[[ord(mark) for mark in marks]] = kind
    return flags


@dataclass(frozen=True)
class Words:
    """The words of n texts, flattened over all N of them."""

    texts: CodePoints
    offsets: np.ndarray  # words of row i are offsets[i]:offsets[i+1]
    # half-open spans in the flattened code points of all texts, as `word_edits.edits_of` and `slices` take
    # them. `EditList` wants places in the row's own text: `row_starts` and `row_ends`.
    flat_starts: np.ndarray
    flat_ends: np.ndarray

    def __len__(self) -> int:
        return len(self.flat_starts)

    @classmethod
    def of(cls, texts: CodePoints) -> "Words":
        """Find the words of some texts."""
        bounds = texts.offsets
        flags = _flags()[texts.values]
        hyphens = np.flatnonzero(flags & _HYPHEN)
        double = np.flatnonzero(np.diff(hyphens) == 1)  # two hyphens are a dash
        flags[hyphens[double]] = flags[hyphens[double + 1]] = _SEPARATOR

        is_core = flags & _CORE > 0
        # Runs of letters, digits and signs, cut where a row ends.
        begins = is_core.copy()
        begins[1:] &= ~is_core[:-1]
        inner = bounds[1:-1]
        inner = inner[inner < len(flags)]
        begins[inner] = is_core[inner]
        finishes = is_core.copy()
        finishes[:-1] &= ~is_core[1:]
        finishes[inner[inner > 0] - 1] = is_core[inner[inner > 0] - 1]
        first, last = np.flatnonzero(begins), np.flatnonzero(finishes) + 1

        # Runs with only punctuation between them are one word: don't, 3.5, well-known.
        gap = first[1:] - last[:-1]
        apart = flags[last[:-1]] & _SEPARATOR > 0
        apart |= flags[first[1:] - 1] & _SEPARATOR > 0
        apart |= gap == 0  # only a row's end parts neighbours
        rows = np.searchsorted(bounds, first, "right")
        apart |= rows[1:] != rows[:-1]
        wide = np.flatnonzero(~apart & (gap > 2))
        if len(wide):
            separators = np.flatnonzero(flags & _SEPARATOR)
            before = np.searchsorted(separators, last[:-1][wide])
            apart[wide] = np.searchsorted(separators, first[1:][wide]) > before
        leads = np.flatnonzero(np.append(True, apart)[: len(first)])
        starts = first[leads]
        ends = last[np.append(leads[1:], len(first)) - 1] if len(first) else last
        rows = rows[leads]

        has_letter = flags[starts] & _LETTER > 0
        others = np.flatnonzero(~has_letter)
        lengths = ends[others] - starts[others]
        letters = flags[ranges(starts[others], lengths)] & _LETTER > 0
        has_letter[others] = np.bincount(np.repeat(np.arange(len(others)), lengths), letters, len(others)) > 0
        if texts.protected is not None:
            protected = np.concatenate([[0], np.cumsum(texts.protected)])
            has_letter &= protected[starts] == protected[ends]
        starts, ends, rows = starts[has_letter], ends[has_letter], rows[has_letter]
        offsets = np.searchsorted(rows, np.arange(1, len(bounds) + 1)).astype(np.int64)
        words = cls(texts, offsets, starts, ends)
        words._take_in_periods(flags)
        return words

    def _take_in_periods(self, flags: np.ndarray) -> None:
        """Let U.S., e.g., J. and Dr. keep their full stop; not at a row's end, where it ends the sentence."""
        last_of_row = self.texts.offsets[1:][self.rows]
        followed = np.flatnonzero(self.flat_ends < last_of_row)
        followed = followed[flags[self.flat_ends[followed]] & _PERIOD > 0]
        followed = followed[self.flat_ends[followed] + 1 < last_of_row[followed]]
        # What comes next must be white space; quotation marks and further stops end a sentence.
        followed = followed[flags[self.flat_ends[followed] + 1] & _SPACE > 0]
        if not len(followed):
            return
        before_periods = slices(self.texts, self.flat_starts[followed], self.flat_ends[followed])
        pattern = r"^(\p{L}|\p{L}+(\.\p{L}+)+)$"
        keeps = pc.match_substring_regex(before_periods, pattern).to_numpy(zero_copy_only=False)
        listed = pc.is_in(pc.utf8_lower(before_periods), word_set("abbreviations"))
        keeps |= listed.to_numpy(zero_copy_only=False)
        self.flat_ends[followed[keeps]] += 1

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (N,): the text of each word, 0 … n−1."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def counts(self) -> np.ndarray:
        """int64 (n,): number of words of each text."""
        return np.diff(self.offsets)

    @cached_property
    def positions(self) -> np.ndarray:
        """int64 (N,): place of each word in its text, 0, 1, ….: the counter of its draws."""
        return np.arange(len(self)) - self.offsets[:-1][self.rows]

    @cached_property
    def row_starts(self) -> np.ndarray:
        """int64 (N,): where each word begins, in code points of its own text."""
        return self.flat_starts - self.texts.offsets[self.rows]

    @cached_property
    def row_ends(self) -> np.ndarray:
        """int64 (N,): where each word ends, in code points of its own text."""
        return self.flat_ends - self.texts.offsets[self.rows]

    @cached_property
    def strings(self) -> pa.StringArray:
        """The words as they stand."""
        first, last = (self.texts.byte_positions[edge] for edge in (self.flat_starts, self.flat_ends))
        return ascending_slices(self.texts.data, first, last).take(pa.array(np.arange(0, 2 * len(self), 2)))

    @cached_property
    def has_capital(self) -> np.ndarray:
        """bool (N,): whether each word begins with a capital letter."""
        return character_classes()[self.texts.values[self.flat_starts]] & UPPER > 0

    @cached_property
    def follows_space(self) -> np.ndarray:
        """bool (N,): whether only white space stands between a word and the one before it in its row."""
        result = np.zeros(len(self), bool)
        if len(self) < 2:
            return result
        gap = self.flat_starts[1:] - self.flat_ends[:-1]
        flags = _flags()
        values = self.texts.values
        near = (self.positions[1:] > 0) & (gap > 0)
        near &= flags[values[self.flat_ends[:-1] % len(values)]] & _SPACE > 0
        near &= flags[values[self.flat_starts[1:] - 1]] & _SPACE > 0
        for index in np.flatnonzero(near & (gap > 2)).tolist():
            between = values[self.flat_ends[index] : self.flat_starts[index + 1]]
            near[index] = bool((flags[between] & _SPACE > 0).all())
        result[1:] = near
        return result

    @cached_property
    def lower(self) -> tuple[np.ndarray, pa.StringArray]:
        """Codes, int64 (N,), into the distinct lower-cased words, and those words; ’ counts as '."""
        encoded = self.strings.dictionary_encode()
        lowered = pc.replace_substring(pc.utf8_lower(encoded.dictionary), "’", "'").dictionary_encode()
        mapping = lowered.indices.to_numpy().astype(np.int64)
        return mapping[encoded.indices.to_numpy()], lowered.dictionary

    def among(self, wanted: Iterable[str] | pa.Array) -> np.ndarray:
        """bool (N,): whether each word, lower-cased, is one of `wanted`."""
        return self.index_in(wanted if isinstance(wanted, pa.Array) else pa.array(sorted(wanted))) >= 0

    def numbers(self, table: Mapping[str, int]) -> np.ndarray:
        """int64 (N,): what a table has for each word, lower-cased; −1 where it has nothing."""
        # For large tables: Arrow's `index_in` would hash all of one for each rows.
        codes, distinct = self.lower
        own = np.fromiter(map(table.get, strings_of(distinct), repeat(-1)), np.int64, len(distinct))
        return own[codes]

    def index_in(self, wanted: pa.Array) -> np.ndarray:
        """int64 (N,): position of each word, lower-cased, in `wanted` (the first); −1 where it is not."""
        codes, distinct = self.lower
        if not len(distinct):
            return np.zeros(0, np.int64)
        return pc.fill_null(pc.index_in(distinct, wanted), -1).to_numpy().astype(np.int64)[codes]


def are_complements(one: str, other: str) -> bool:
    """Whether two words exclude each other and leave no third: a listed pair, or `un` and the like."""
    one, other = sorted((one.lower(), other.lower()), key=len)
    prefixed = any(other == prefix + one for prefix in _PREFIXES) and one not in _NO_PREFIX
    return prefixed or frozenset({one, other}) in _COMPLEMENTS


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
