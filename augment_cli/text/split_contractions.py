"""Contractions written apart, as tokenised corpora have them (`do n't`, `it 's`): joined, and back.

Rules and pipelines read the joined text; what they say of places is told of the original.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

_SPACES = re.compile(
    r"\b(?:do|does|did|is|are|was|were|ca|has|have|had|could|would|should|wo|must|need|might|ai|sha)"
    r"( ?)n( ?)['’]t\b|[^\W\d_]( )['’](?:s|m|re|ve|ll|d)\b(?! ?['’])",
    re.IGNORECASE,
)


def spaces_within(text: str) -> np.ndarray:
    """int64 (k,): where a space stands inside a contraction, in code points; rising."""
    places = [
        match.start(group)
        for match in _SPACES.finditer(text)
        for group in (1, 2, 3)
        if match.group(group) == " "
    ]
    return np.array(places, np.int64)


def without(text: str, places: np.ndarray) -> str:
    """The text without the characters at some places."""
    bounds = [-1, *places.tolist(), len(text)]
    return "".join(text[low + 1 : high] for low, high in pairwise(bounds))


def original_places(
    starts: np.ndarray, ends: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Spans (m,) of a text without some places as spans of the original."""
    gone = places - np.arange(len(places))  # in the joined text, each stood before this character
    first = starts + np.searchsorted(gone, starts, "right")
    last = ends + np.searchsorted(gone, np.maximum(ends - 1, starts), "right")
    return first, np.where(ends > starts, last, first)
