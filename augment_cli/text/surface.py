"""The surface of replaced text: substrings, and spaces where words would grow together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.text.letter_case import ALPHANUMERIC, character_classes
from augment_cli.text.spans import CodePoints, offsets_from_lengths, ranges, string_array, string_buffers


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
