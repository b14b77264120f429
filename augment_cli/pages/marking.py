"""Two texts side by side with what changed marked: by the stage's edits, or else word by word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup, escape

from augment_cli.errors.visible import visible_line

_LONGEST = 20_000  # characters of both texts; comparing takes the square of it
_WORDS = re.compile(r"\w+(?:['’]\w+)*|\s+|[^\w\s]")


def marked(
    original: str, text: str, edits: Sequence[Mapping[str, Any]] = (), most: int | None = None
) -> tuple[Markup, Markup]:
    """Original and result, what went struck out and what came underlined."""
    before, after, position = [], [], 0
    for edit in edits or word_edits(original, text):
        kept = original[position : edit["start"]]
        removed, new = original[edit["start"] : edit["end"]], edit["replacement"]
        before += [escape(_line(kept, most)), _element("del", removed, most)]
        after += [escape(_line(kept, most)), _element("ins", new, most)]
        position = edit["end"]
        if most is not None and position > most:
            break
    rest = original[position:]
    if most is not None and len(rest) > most:
        rest = rest[:most] + "…"
    return tuple(Markup("").join([*some, escape(_line(rest, most))]) for some in (before, after))  # type: ignore[return-value]


def word_edits(original: str, text: str) -> list[dict[str, Any]]:
    """Edits that make one text of the other, whole words at a time."""
    if len(original) + len(text) > _LONGEST:
        return [{"start": 0, "end": len(original), "replacement": text}]
    ones, twos = _WORDS.findall(original), _WORDS.findall(text)
    starts = [0]
    for word in ones:
        starts.append(starts[-1] + len(word))
    opcodes = SequenceMatcher(None, ones, twos, autojunk=False).get_opcodes()
    return [
        {"start": starts[one], "end": starts[one_end], "replacement": "".join(twos[two:two_end])}
        for kind, one, one_end, two, two_end in opcodes
        if kind != "equal"
    ]


def _element(tag: str, text: str, most: int | None) -> Markup:
    return Markup(f"<{tag}>{{}}</{tag}>").format(_line(text, most)) if text else Markup("")


def _line(text: str, most: int | None) -> str:
    """Text of a corpus within a line; escaping is the page's."""
    shown = visible_line(text)
    return shown if most is None or len(shown) <= 2 * most else shown[: 2 * most] + "…"
