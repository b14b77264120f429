"""NLTK's Treebank rules as array operations over a batch of sentences.

NLTKWordTokenizer is a sequence of replacements that only ever put spaces between characters, apart
from rewriting double quotes. So its state is one bit per place between two characters, the array
`gaps`: bit i says that white space stands between characters i-1 and i. Each rule looks at a
punctuation mark, its neighbours and the gaps beside it, and they run here in NLTK's order, each on the
few places it can apply to. A rule that sees a gap which NLTK would only make later gives other tokens
(x's' is one), hence the two stages of isolating marks: before and after the lone closing quote.
"""

from dataclasses import dataclass

import numpy as np

# Ordinary characters: 0x80 plus these bits.
PLAIN = 0x80
REGEX_WORD_BIT, RE_WORD_BIT, DIGIT_BIT = 1, 2, 4
SPACE = 0x90  # white space other than U+0020 and line feed
OPENING = 0x91  # « “ ‘ „
CLOSING = 0x92  # » ” ’
DASH = 0x93  # U+2012 to U+2015
CONVERTED = 0x94  # a double quote already rewritten as an opening one
ODD = 0x95  # a row with it is left to NLTK
DOTTED_I = 0x96  # U+0130: lower-cased an i, with a combining dot behind it
DOTLESS_I = 0x97  # U+0131: an i to the contraction rules, which ignore case
LONG_S = 0x98  # U+017F: an s to the clitic and contraction rules, for the same reason
NEWLINE = 0x0A  # between the rows

DOTTED_CAPITAL_I = 0x130
CAPITAL_SIGMA = 0x3A3
LAST_CODE_POINT = 0x10FFFF

_OPENING_CHARACTERS = "«“‘„"
_CLOSING_CHARACTERS = "»”’"
_LETTERS = {DOTTED_CAPITAL_I: DOTTED_I, 0x131: DOTLESS_I, 0x17F: LONG_S}
PADDING = 4  # line feeds after the batch, so that looking ahead stays inside the array
_LONGEST_TAIL = 64  # characters looked at after a final period, before the row is left to NLTK

_QUOTE, _APOSTROPHE, _BACKTICK, _PERIOD, _HYPHEN = (ord(mark) for mark in "\"'`.-")
# Each is cut after its third letter, which is the fourth, too.
_SPLIT_WORDS = ("cannot", "gimme", "gonna", "gotta", "lemme", "wanna")
_CUT = 3
# Letters that patterns which ignore case take for others.
_ALSO = {"i": DOTLESS_I, "s": LONG_S}


def utf8_size(codes: np.ndarray) -> np.ndarray:
    """Bytes of each code point (n,) in UTF-8: 1 to 4."""
    return 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)


def _classify(code: int) -> tuple[int, int]:
    """Kind and lower-cased code point of one character outside ASCII."""
    import regex  # comes with NLTK

    character = chr(code)
    lowered = character.lower()
    if code in _LETTERS:
        return _LETTERS[code], code
    if len(lowered) != 1 or len(lowered.encode()) > len(character.encode()):
        return ODD, code
    is_space = lowered.isspace()
    if is_space != bool(regex.match(r"\s", lowered)):
        return ODD, code
    if is_space:
        return SPACE, ord(" ")
    if lowered in _OPENING_CHARACTERS:
        return OPENING, code
    if lowered in _CLOSING_CHARACTERS:
        return CLOSING, code
    if 0x2012 <= code <= 0x2015:
        return DASH, code
    kind = PLAIN
    kind |= REGEX_WORD_BIT if regex.match(r"\w", lowered) else 0
    kind |= RE_WORD_BIT if lowered.isalnum() else 0
    kind |= DIGIT_BIT if regex.match(r"\d", lowered) else 0
    return kind, ord(lowered)


class CharacterTable:
    """Every character as one byte: what the rules need to know about it, classified as they are met.

    An ASCII character stands for itself, lower-cased. Any other becomes a kind from 0x80 up. The kinds follow
    the `regex` package, which NLTK compiles its punctuation rules with, and the standard `re`, which its
    contraction rules use: the two differ in what a word character is (combining marks for one, superscript
    digits for the other).
    """

    def __init__(self) -> None:
        # Zeroed memory takes no room until it is written to.
        self._kinds = np.zeros(LAST_CODE_POINT + 1, np.uint8)
        self._lowered = np.zeros(LAST_CODE_POINT + 1, np.uint32)

    def look_up(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Kinds, uint8 (n,), and lower-cased code points, uint32 (n,), of code points above 127."""
        kinds = self._kinds[codes]
        if not kinds.all():
            for code in np.unique(codes[kinds == 0]).tolist():
                kind, self._lowered[code] = _classify(code)
                self._kinds[code] = kind  # last: another thread takes a character with a kind as known
            kinds = self._kinds[codes]
        return kinds, self._lowered[codes]


def _ascii_kinds() -> bytes:
    kinds = bytearray(bytes(range(256)).lower())
    for code in (*range(32), 127):
        kinds[code] = NEWLINE if code == NEWLINE else SPACE if chr(code) in "\t\v\f\r" else ODD
    return bytes(kinds)


def _set_of(members: str, *kinds: int) -> np.ndarray:
    """A table (256,) of bool: which kinds belong to a set."""
    table = np.zeros(256, bool)
    table[[ord(character) for character in members]] = True
    table[list(kinds)] = True
    return table


def _ordinary(bit: int) -> list[int]:
    return [PLAIN | bits for bits in range(8) if bits & bit]


_DIGITS = "0123456789"
_WORD = _DIGITS + "abcdefghijklmnopqrstuvwxyz_"

ASCII_KINDS = _ascii_kinds()
ASCII_LOWER = bytes(range(256)).lower()
ASCII_SPACES = b" \n\t\v\f\r"
IS_REGEX_WORD = _set_of(_WORD, *_ordinary(REGEX_WORD_BIT), *_LETTERS.values())
IS_RE_WORD = _set_of(_WORD, *_ordinary(RE_WORD_BIT), *_LETTERS.values())
# Seen from behind, a lower-cased U+0130 is its combining dot: no word character to `re`.
IS_RE_WORD_BEFORE = IS_RE_WORD.copy()
IS_RE_WORD_BEFORE[DOTTED_I] = False
IS_DIGIT = _set_of(_DIGITS, *_ordinary(DIGIT_BIT))
IS_SPACE = _set_of(" \n", SPACE)
# What a double quote follows when it opens; a line feed counts for " alone.
PRECEDES_OPENING = _set_of(" ([{<`", OPENING)
# What may stand between the final period and the end.
FOLLOWS_FINAL_PERIOD = _set_of("])}>\"' ", CLOSING)
ISOLATED_EARLY = _set_of(";@#$%&?!", OPENING, DASH)
ISOLATED_LATE = _set_of("*[](){}<>", CLOSING)
_SPECIAL = _set_of("\"'`.,:-", ODD) | ISOLATED_EARLY | ISOLATED_LATE

SPACE_FLAG, SPECIAL_FLAG = 1, 2
FLAGS = (IS_SPACE * SPACE_FLAG + _SPECIAL * SPECIAL_FLAG).astype(np.uint8).tobytes()


@dataclass
class Rewriting:
    """Where the batch falls apart, and which double quotes are opening ones.

    Positions count code points of the batch.
    """

    gaps: np.ndarray  # (L+1,) bool
    spaces: np.ndarray  # (L,) bool
    opening_quotes: np.ndarray  # positions of " that become ``
    closing_quotes: np.ndarray  # positions of " that become ''
    opening_pairs: np.ndarray  # positions of the first ' of '' that become ``
    odd_positions: list[np.ndarray]  # somewhere in each row to be left to NLTK


def _equals(kinds: np.ndarray, positions: np.ndarray, text: str, any_case: bool = False) -> np.ndarray:
    """Whether `text` begins at each position; in `any_case` as NLTK's patterns that ignore case see it."""
    result = np.ones(len(positions), bool)
    for offset, character in enumerate(text):
        here = kinds[positions + offset]
        is_it = here == ord(character)
        result &= is_it | (here == _ALSO[character]) if any_case and character in _ALSO else is_it
    return result


def _runs(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of each position within its run of adjacent positions, and whether it ends the run."""
    count = len(positions)
    breaks = np.flatnonzero(np.diff(positions) != 1) + 1
    first = np.zeros(count, np.int64)
    first[breaks] = breaks
    index = np.arange(count) - np.maximum.accumulate(first)
    is_last = np.zeros(count, bool)
    is_last[breaks - 1] = True
    is_last[-1:] = True
    return index, is_last


def _pairs(positions: np.ndarray) -> np.ndarray:
    """First positions of the non-overlapping pairs in runs of adjacent positions, from the left."""
    index, is_last = _runs(positions)
    return positions[(index % 2 == 0) & ~is_last]


def _isolate(gaps: np.ndarray, positions: np.ndarray, length: int = 1) -> None:
    gaps[positions] = True
    gaps[positions + length] = True


def _quotes(
    kinds: np.ndarray, gaps: np.ndarray, quotes: np.ndarray, apostrophes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Opening double quotes: those after a space, an opening bracket or mark, or at the row's start."""

    def follows_opener(positions: np.ndarray) -> np.ndarray:
        before = kinds[positions - 1]
        # A row's first " has been rewritten, with a space after it, before the others are looked at.
        after_first = (before == _QUOTE) & (kinds[positions - 2] == NEWLINE)
        opens: np.ndarray = PRECEDES_OPENING[before] | after_first
        return opens

    opening_quotes = quotes[follows_opener(quotes) | (kinds[quotes - 1] == NEWLINE)]
    index, is_last = _runs(apostrophes)
    candidates = apostrophes[(index == 0) & ~is_last]
    opening_pairs = candidates[follows_opener(candidates)]
    _isolate(gaps, opening_quotes)
    _isolate(gaps, opening_pairs, 2)
    for positions in (opening_quotes, opening_pairs, opening_pairs + 1):
        kinds[positions] = CONVERTED
    return opening_quotes, opening_pairs


def _opening_apostrophes(kinds: np.ndarray, gaps: np.ndarray, apostrophes: np.ndarray) -> None:
    """An apostrophe before a word and not after one stands alone, unless it begins a clitic."""
    opening = apostrophes[~IS_REGEX_WORD[kinds[apostrophes - 1]] & IS_REGEX_WORD[kinds[apostrophes + 1]]]
    word_follows = IS_REGEX_WORD[kinds[opening + 2]]
    clitic = np.zeros(len(opening), bool)
    for letter in "mtsdn":
        clitic |= _equals(kinds, opening + 1, letter, any_case=True) & ~word_follows
    for letters in ("re", "ve", "ll"):
        clitic |= _equals(kinds, opening + 1, letters) & ~IS_REGEX_WORD[kinds[opening + 3]]
    gaps[opening[~clitic] + 1] = True


def _final_periods(
    kinds: np.ndarray, gaps: np.ndarray, periods: np.ndarray, newlines: np.ndarray
) -> np.ndarray:
    """The row's last period, where only closing marks follow it. Returns those that were too far to tell."""
    if not len(periods):
        return periods
    before = np.searchsorted(periods, newlines[1:]) - 1
    last = periods[np.maximum(before, 0)]
    in_row = (before >= 0) & (last > newlines[:-1] + 1) & (last < newlines[1:])
    last = last[in_row & (kinds[last - 1] != _PERIOD)]
    is_final = kinds[last + 1] == NEWLINE
    pending = np.flatnonzero(~is_final)
    in_spaces = np.zeros(len(pending), bool)  # past the first space that is not U+0020: no more marks
    for distance in range(1, _LONGEST_TAIL):
        here = kinds[last[pending] + distance]
        is_final[pending[here == NEWLINE]] = True
        in_spaces |= here == SPACE
        goes_on = np.where(in_spaces, IS_SPACE[here] & (here != NEWLINE), FOLLOWS_FINAL_PERIOD[here])
        pending, in_spaces = pending[goes_on], in_spaces[goes_on]
        if not len(pending):
            break
    _isolate(gaps, last[is_final])
    return last[pending]


def _commas(kinds: np.ndarray, gaps: np.ndarray, commas: np.ndarray) -> None:
    """Commas and colons before anything but a digit; the rule's match takes in the following one."""
    index, _ = _runs(commas)
    _isolate(gaps, commas[(index % 2 == 0) & ~IS_DIGIT[kinds[commas + 1]]])


def _closing_apostrophes(kinds: np.ndarray, gaps: np.ndarray, apostrophes: np.ndarray) -> None:
    """An apostrophe before a U+0020, seen before the marks that only later get spaces."""
    after = kinds[apostrophes + 1]
    closing = gaps[apostrophes + 1] & (after != NEWLINE) & (after != SPACE)
    gaps[apostrophes[closing & (kinds[apostrophes - 1] != _APOSTROPHE)]] = True


def _clitics(kinds: np.ndarray, gaps: np.ndarray, apostrophes: np.ndarray) -> None:
    """The endings 's 'm 'd ' and then 'll 're 've n't, each at the end of its word."""
    inner = apostrophes[~gaps[apostrophes] & (kinds[apostrophes - 1] != _APOSTROPHE)]
    after = kinds[inner + 1]
    one_letter = (after == ord("s")) | (after == ord("m")) | (after == ord("d"))
    splits = gaps[inner + 1] | (one_letter & gaps[inner + 2])
    gaps[inner[splits]] = True

    inner = inner[~splits]
    clitic = np.zeros(len(inner), bool)
    for letters in ("ll", "re", "ve"):
        clitic |= _equals(kinds, inner + 1, letters)
    clitic &= gaps[inner + 3]
    negated = inner[_equals(kinds, inner - 1, "n't")]
    negated = negated[gaps[negated + 2] & (kinds[negated - 2] != _APOSTROPHE)]
    gaps[inner[clitic]] = True
    gaps[negated - 1] = True


def _contractions(kinds: np.ndarray, gaps: np.ndarray, apostrophes: np.ndarray) -> None:
    """Words written as one: cannot, gimme, gonna, gotta, lemme, wanna, d'ye, more'n, 'tis, 'twas."""

    def starts_word(positions: np.ndarray) -> np.ndarray:
        starts: np.ndarray = ~IS_RE_WORD_BEFORE[kinds[positions - 1]] | gaps[positions]
        return starts

    def ends_word(positions: np.ndarray) -> np.ndarray:
        ends: np.ndarray = ~IS_RE_WORD[kinds[positions]] | gaps[positions]
        return ends

    doubled = np.flatnonzero(kinds[1:] == kinds[:-1])
    for word in _SPLIT_WORDS:
        starts = doubled[kinds[doubled] == ord(word[_CUT])] - (_CUT - 1)
        starts = starts[_equals(kinds, starts, word, any_case=True)]
        ends = starts + len(word)
        is_word = starts_word(starts) & ends_word(ends)
        if word == "wanna":
            is_word &= gaps[ends]
        for offset in (0, _CUT, len(word)):
            gaps[starts[is_word] + offset] = True

    inner = apostrophes[~gaps[apostrophes] & ~gaps[apostrophes + 1]]
    for first, second in (("d", "ye"), ("more", "n")):
        near = inner[(inner > len(first)) & _equals(kinds, inner + 1, second)]
        near = near[_equals(kinds, near - len(first), first)]
        near = near[starts_word(near - len(first)) & ends_word(near + 1 + len(second))]
        for offset in (-len(first), 0, 1 + len(second)):
            gaps[near + offset] = True
    # Only after a word that was split off just now: elsewhere the apostrophe already stands alone.
    for ending in ("tis", "twas"):
        outer = apostrophes[gaps[apostrophes] & ~gaps[apostrophes + 1]]
        near = outer[_equals(kinds, outer + 1, ending, any_case=True)]
        near = near[ends_word(near + 1 + len(ending))]
        gaps[near + 2] = True
        gaps[near + 1 + len(ending)] = True


def rewrite(letters: bytes, newlines: np.ndarray) -> Rewriting:
    """Apply the rules to a batch of n rows."""
    # newlines: int64 (n+1,), positions of the line feeds
    kinds = np.frombuffer(bytearray(letters + b"\n" * PADDING), np.uint8)
    flags = np.frombuffer(letters.translate(FLAGS), np.uint8)
    spaces = (flags & SPACE_FLAG).view(bool)
    gaps = np.empty(len(letters) + 1 + PADDING, bool)
    gaps[0] = True
    gaps[len(letters) :] = True
    np.logical_or(spaces[1:], spaces[:-1], out=gaps[1 : len(letters)])

    special = np.flatnonzero(flags & SPECIAL_FLAG)
    special_kinds = kinds[special]

    def at(mark: int) -> np.ndarray:
        return special[special_kinds == mark]

    odd_positions = [at(ODD)]
    apostrophes = at(_APOSTROPHE)
    periods = at(_PERIOD)
    quotes = at(_QUOTE)

    _isolate(gaps, special[ISOLATED_EARLY[special_kinds]])
    backticks = at(_BACKTICK)
    index, is_last = _runs(backticks)
    gaps[backticks[index % 2 == 0]] = True
    gaps[backticks[is_last] + 1] = True
    opening_quotes, opening_pairs = _quotes(kinds, gaps, quotes, apostrophes)
    apostrophes = apostrophes[kinds[apostrophes] == _APOSTROPHE]
    closing_quotes = quotes[kinds[quotes] == _QUOTE]
    _opening_apostrophes(kinds, gaps, apostrophes)
    odd_positions.append(_final_periods(kinds, gaps, periods, newlines))
    _commas(kinds, gaps, special[(special_kinds == ord(",")) | (special_kinds == ord(":"))])
    index, is_last = _runs(periods)
    in_ellipsis = (index > 0) | ~is_last
    gaps[periods[in_ellipsis & (index == 0)]] = True
    gaps[periods[in_ellipsis & is_last] + 1] = True
    _closing_apostrophes(kinds, gaps, apostrophes)

    _isolate(gaps, special[ISOLATED_LATE[special_kinds]])
    _isolate(gaps, _pairs(at(_HYPHEN)), 2)
    _isolate(gaps, _pairs(apostrophes), 2)
    _isolate(gaps, closing_quotes)
    _clitics(kinds, gaps, apostrophes)
    _contractions(kinds, gaps, apostrophes)
    return Rewriting(
        gaps[: len(letters) + 1], spaces, opening_quotes, closing_quotes, opening_pairs, odd_positions
    )
