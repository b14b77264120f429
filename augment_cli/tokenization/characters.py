"""Every character as one byte: what the Treebank rules need to know about it.

An ASCII character stands for itself, lower-cased. Any other becomes a kind from 0x80 up, looked up in
a table that is filled as characters are met, so nothing is computed for the million others. The kinds
follow the `regex` package, which NLTK compiles its punctuation rules with, and the standard `re`,
which its contraction rules use: the two differ in what a word character is (combining marks for one,
superscript digits for the other).
"""

from __future__ import annotations

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
    """Kind and lower case of the characters outside ASCII, classified as they are met."""

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
