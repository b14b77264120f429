"""Letter case: how a word is written, and another one in the same way; one by one, and for arrays.

Three patterns are told apart: as it is (mostly small letters), a capital in front, all capitals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.text.spans import CodePoints, ranges

AS_IT_IS, CAPITALISED, CAPITALS = range(3)
# Flags of `character_classes`.
UPPER, LOWER, ALPHANUMERIC = 1, 2, 4


# --- one word


def case_of(word: str) -> int:
    """AS_IT_IS, CAPITALISED or CAPITALS (of two letters at least)."""
    if word.isupper() and sum(map(str.isalpha, word)) > 1:
        return CAPITALS
    return CAPITALISED if word[:1].isupper() else AS_IT_IS


def in_case(text: str, case: int) -> str:
    """A text in the case of what it replaces: AS_IT_IS, CAPITALISED or CAPITALS."""
    if case == CAPITALS:
        return text.upper()
    return text[:1].upper() + text[1:] if case == CAPITALISED else text


# --- arrays


@lru_cache(maxsize=1)
def character_classes() -> np.ndarray:
    """uint8 (0x110000,): UPPER, LOWER and ALPHANUMERIC of every code point (a pure table)."""
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    classes = np.zeros(len(characters), np.uint8)
    tests = ((UPPER, np.strings.isupper), (LOWER, np.strings.islower), (ALPHANUMERIC, np.strings.isalnum))
    for flag, test in tests:
        classes |= test(characters) * np.uint8(flag)
    return classes


def case_pattern(texts: CodePoints, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The case of spans of the flattened texts."""
    # starts, ends: flattened code points, half-open, none empty; CAPITALS are two capitals at least
    classes = character_classes()
    first = classes[texts.values[starts]]
    patterns = (first & UPPER).astype(np.int64)
    # Only a token of two or more characters that does not begin with a small letter can be in capitals.
    maybe = np.flatnonzero((first & LOWER == 0) & (ends - starts >= 2))
    if len(maybe):
        lengths = (ends - starts)[maybe]
        inside = classes[texts.values[ranges(starts[maybe], lengths)]]
        begins = np.cumsum(lengths) - lengths
        uppers = np.add.reduceat((inside & UPPER).astype(np.int64), begins)
        any_lower = np.bitwise_or.reduceat(inside & LOWER, begins) > 0
        patterns[maybe[(uppers >= 2) & ~any_lower]] = CAPITALS
    return patterns


def capitalised(strings: pa.Array, change: Callable[[pa.Array], pa.Array] = pc.utf8_upper) -> pa.Array:
    """Strings with their first letter in upper case (or changed otherwise), the others as they are."""
    first = change(pc.utf8_slice_codeunits(strings, 0, 1))
    return pc.binary_join_element_wise(first, pc.utf8_slice_codeunits(strings, 1), "")


def capitalised_where(strings: pa.Array, mask: np.ndarray) -> pa.Array:
    """Strings (m,), those of a bool mask (m,) with their first letter in upper case."""
    return _changed_where(strings, mask, capitalised)


def uncapitalised_where(strings: pa.Array, mask: np.ndarray) -> pa.Array:
    """Strings (m,), those of a bool mask (m,) with their first letter in lower case."""
    return _changed_where(strings, mask, lambda some: capitalised(some, pc.utf8_lower))


def _changed_where(strings: pa.Array, mask: np.ndarray, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    if not mask.any():
        return strings
    chosen = pa.array(mask)
    return pc.replace_with_mask(strings, chosen, change(strings.filter(chosen)))


def in_patterns(strings: pa.Array, patterns: np.ndarray) -> pa.Array:
    """Strings (m,), each in its pattern of `case_pattern` (m,)."""
    result = capitalised_where(strings, patterns == CAPITALISED)
    return _changed_where(result, patterns == CAPITALS, pc.utf8_upper)
