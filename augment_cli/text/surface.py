"""How words are written: letter case, spaces where words would grow together; one by one, and for arrays."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.text.spans import CodePoints, offsets_from_lengths, ranges, string_array, string_buffers

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


def slices(texts: CodePoints, starts: np.ndarray, ends: np.ndarray) -> pa.StringArray:
    """Substrings of the flattened texts, given in code points."""
    return cut(texts.data, texts.byte_positions[starts], texts.byte_positions[ends])


def cut(data: np.ndarray, first: np.ndarray, last: np.ndarray) -> pa.StringArray:
    """Substrings of UTF-8 bytes, given in bytes."""
    return string_array(offsets_from_lengths(last - first), data[ranges(first, last - first)])


def equals_original(
    texts: CodePoints, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, replacements: pa.StringArray
) -> np.ndarray:
    """bool (m,): whether each replacement is what already stands in its span, in code points of all texts."""
    first, last = texts.bytes_at(rows, starts), texts.bytes_at(rows, ends)
    equal = last - first == np.diff(string_buffers(replacements)[0])
    maybe = np.flatnonzero(equal)  # of the same length: most are not, and need no comparison
    same = pc.equal(cut(texts.data, first[maybe], last[maybe]), replacements.take(pa.array(maybe)))
    equal[maybe] = same.to_numpy(zero_copy_only=False)
    return equal


def spaced(
    texts: CodePoints, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, replacements: pa.StringArray
) -> pa.StringArray:
    """Replacements with a space on the side where two words would otherwise grow together."""
    if not len(starts):
        return replacements
    classes = character_classes()
    new_first, new_last = _are_words_at_edges(replacements)
    # The characters on either side; none beyond the text's own bounds.
    has_before, has_after = starts > texts.offsets[rows], ends < texts.offsets[rows + 1]
    before = classes[texts.values[starts - has_before]] & ALPHANUMERIC > 0
    after = classes[texts.values[ends - ~has_after]] & ALPHANUMERIC > 0
    follows_edit = np.append(False, ends[:-1] == starts[1:]) & has_before
    precedes_edit = np.append(starts[1:] == ends[:-1], False) & has_after
    last_before = np.where(follows_edit, np.append(False, new_last[:-1]), before)
    space_before = has_before & last_before & new_first
    # Between two edits the second one brings the space.
    space_after = has_after & ~precedes_edit & new_last & after
    touched = np.flatnonzero(space_before | space_after)
    if not len(touched):
        return replacements
    wanted = replacements.take(pa.array(touched)).to_pylist()
    spaced = [
        " " * bool(space_before[index]) + text + " " * bool(space_after[index])
        for index, text in zip(touched, wanted, strict=True)
    ]
    mask = np.zeros(len(replacements), bool)
    mask[touched] = True
    return pc.replace_with_mask(replacements, pa.array(mask), pa.array(spaced, pa.string()))


def _are_words_at_edges(strings: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """bool (m,) twice: whether strings, none of them empty, begin and end with a letter or digit."""
    offsets, data = string_buffers(strings)
    edges, classes = [data[offsets[:-1]], data[offsets[1:] - 1]], character_classes()
    first, last = (classes[edge] & ALPHANUMERIC > 0 for edge in edges)
    other = np.flatnonzero((edges[0] | edges[1]) >= 0x80)  # not ASCII
    if len(other):
        points = CodePoints.of(strings.take(pa.array(other)))
        first[other] = classes[points.values[points.offsets[:-1]]] & ALPHANUMERIC > 0
        last[other] = classes[points.values[points.offsets[1:] - 1]] & ALPHANUMERIC > 0
    return first, last


def normalize(texts: pa.Array) -> pa.Array:
    """Lower-cased words with one space between them; a text without words stays as it is."""
    words = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\pL\pM\pN]+", " ")
    words = pc.utf8_trim_whitespace(words)
    return pc.if_else(pc.equal(words, ""), texts, words)
