"""What no augmentation should touch (quotations, addresses, tags, gaps), and how people wrote some texts."""

import dataclasses
import itertools
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.text.spans import CodePoints

_MARKS = re.compile("[\"“”„«»'‘’`]")
_QUOTED = re.compile(
    '"[^"]*(?:"|$)|“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“”]*(?:[“”]|$)|``.*?(?:\'\'|$)|'
    # Single marks that open before a letter and close behind a word: 'so', and not the dogs' tails.
    r"(?<![\w.,!?])['‘](?=\w)[^'‘’]*(?:['’](?=\w)[^'‘’]*)*['’](?!\w)"
)
# The end of what another line opened: `so it was," he said.`
_CLOSES = re.compile('^[^"“]*[^\\s"“]["”](?=\\s|$)')
_GAP = re.compile(
    r"\S\s{2,}\S|[(\[]\s*[,;)\]]|\w\s+[,;](?:\s|$)|\s\.(?:\s|$)|,\s*,|"
    r"\b(?:of|between|than|approximately|the|an|and|or|nor|per)[,.;:)](?!\w)",
    re.IGNORECASE,
)

_PARTED_GAP = re.compile(
    r"\b(?:of|between|than|approximately|the|an?|and|or|nor|per|in|by)\s+[,.;:)]", re.IGNORECASE
)
# Marks written to the word before, as in ordinary text, and with a space before, as treebanks have them.
_ATTACHED, _PARTED = re.compile(r"\w[,.;:!?](?=\s|$)"), re.compile(r"\w\s+[,.;:!?](?=\s|$)")

PROTECTED = 1  # number of the rules below, which stages note
# What is one thing, and broken once a word of it changes: addresses, handles, hashtags, tags, entities, and
# the markers of serialised tables.
_PROTECTED = re.compile(
    r"(?:(?:https?|ftp)://|www\.)[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]'’]|"
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.-])(?:[\w-]+\.)+[A-Za-z]{2,}/[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]'’]|"
    r"(?<![\w@])@\w+|(?<![\w&#])#\w*[^\W\d_]\w*|</?(?:[A-Za-z][^<>]*)?>|<!--.*?-->|"
    r"&(?:[A-Za-z]\w{1,31}|#\d{1,7}|#x[\dA-Fa-f]{1,6});|\[[A-Z][A-Z0-9_]*\]"
)
_MAYBE = r"[@#<&\[]|://|www\.|\w\.\w[^\s]*/"  # what every such text has
_MOST = 0.5  # of the texts
_SPACES = re.compile(
    r"\b(?:do|does|did|is|are|was|were|ca|has|have|had|could|would|should|wo|must|need|might|ai|sha)"
    r"( ?)n( ?)['’]t\b|[^\W\d_]( )['’](?:s|m|re|ve|ll|d)\b(?! ?['’])",
    re.IGNORECASE,
)


def protecting(texts: pa.Array, own: str = "", usual: bool = True) -> CodePoints:
    """The code points of some texts, with those that no edit may cut into, by our rules and one's own."""
    points, patterns = CodePoints.of(texts), [re.compile(own)] if own else []
    some = np.arange(len(texts))
    if usual:
        patterns.append(_PROTECTED)
        some = some if own else np.flatnonzero(pc.match_substring_regex(texts, _MAYBE))
    if not len(some) or not patterns:
        return points
    mask, strings = np.zeros(len(points.values), bool), texts.take(pa.array(some)).to_pylist()
    for start, text in zip(points.offsets[some].tolist(), strings, strict=True):
        for match in itertools.chain.from_iterable(pattern.finditer(text) for pattern in patterns):
            mask[start + match.start() : start + match.end()] = True
    return dataclasses.replace(points, protected=mask) if mask.any() else points


def is_quoted(texts: CodePoints) -> np.ndarray:
    """bool (characters of all texts,): whether each stands inside quotation marks, which count as inside."""
    quoted = np.zeros(len(texts.values), bool)
    for start, text in zip(texts.offsets[:-1].tolist(), _strings(texts), strict=True):
        if _MARKS.search(text) is None:
            continue
        if text.count('"') % 2 or text.count("”") > text.count("“"):
            closing = _CLOSES.match(text)
            if closing is not None:
                quoted[start : start + closing.end()] = True
                start, text = start + closing.end(), text[closing.end() :]
        for match in _QUOTED.finditer(text):
            quoted[start + match.start() : start + match.end()] = True
    return quoted


def quotations(text: str) -> list[str]:
    """What stands inside quotation marks in a text, with its marks, one after the other."""
    return [match[0] for match in _QUOTED.finditer(text)]


def has_gap(texts: CodePoints) -> np.ndarray:
    """bool (n,): texts in which something is missing: `born in , was`, `more than .`, empty brackets."""
    found = [
        (_PARTED_GAP if is_tokenised(text) else _GAP).search(text) is not None for text in _strings(texts)
    ]
    return np.array(found, bool)


def is_tokenised(text: str) -> bool:
    """Whether the marks of a text stand by themselves, its last one too: `a good film , really .`"""
    ends = re.search(r"\w\W*\s[.!?]\W*$", text) is not None
    return ends and _PARTED.search(text) is not None and _ATTACHED.search(text) is None


def _strings(texts: CodePoints) -> list[str]:
    places = texts.byte_offsets.tolist()
    return [texts.data[low:high].tobytes().decode() for low, high in pairwise(places)]


def notes_on_writing(texts: Sequence[str]) -> list[str]:
    """What rules have to know of most of the texts, a line each."""
    lettered = [text for text in texts if any(character.isalpha() for character in text)]
    if not lettered:
        return []
    parted = sum(map(is_tokenised, lettered)) / len(lettered)
    # Scripts without capitals are as they should be.
    cased = [text for text in lettered if text.lower() != text.upper()]
    small = sum(text == text.lower() for text in cased) / len(lettered)
    notes = []
    if parted >= _MOST:
        notes.append(
            f"tokenised: {parted:.0%} of the texts have a space before their marks, as treebanks have; "
            "contractions written apart (do n't) are read as one, and texts keep their spaces"
        )
    if small >= _MOST:
        notes.append(
            f"without capitals: {small:.0%} of the texts; names are told by the shipped lists alone, so some "
            "stay unknown, and nothing put in gets a capital"
        )
    return notes


def spaces_within(text: str) -> np.ndarray:
    """int64 (k,): where a space stands inside a contraction, in code points; rising."""
    groups = ((match, group) for match in _SPACES.finditer(text) for group in (1, 2, 3))
    return np.array([match.start(group) for match, group in groups if match[group] == " "], np.int64)


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
