"""What no augmentation should touch: quoted spans, and texts that a template left gaps in."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

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
    found = [_GAP.search(text) is not None for text in _strings(texts)]
    return np.array(found, bool)


def _strings(texts: CodePoints) -> list[str]:
    places = texts.byte_offsets.tolist()
    return [texts.data[low:high].tobytes().decode() for low, high in pairwise(places)]
