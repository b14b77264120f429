"""Text as a person may safely see it: characters that command a terminal or turn its lines become marks."""

from __future__ import annotations

import json
import re
from typing import Any

# C0 and C1 but tab and line feed, halves of surrogate pairs, separators that begin a line somewhere, and what
# sets the direction of text: one of them makes a line say what is not in it.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(value: object) -> str:
    """A value as text with control characters as marks, `␛` or `<U+202E>`; line feeds and tabs stay."""
    return _COMMANDS.sub(_mark, str(value))


def visible_line(value: object) -> str:
    """The same for what stands within a line, such as a name: line feeds and tabs are marks too."""
    return visible(value).replace("\n", "␊").replace("\t", "␉")


def in_markdown(text: str) -> str:
    """A text as a cell or a line of Markdown, in which it opens no tag and no further cell."""
    return visible_line(text).replace("<", "&lt;").replace("|", "\\|")


def visible_json(value: Any, indent: int | None = 1) -> str:
    """JSON that a terminal may show: the same value, with such characters as `\\u` escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    # Line feeds and tabs within a string are escaped by JSON itself.
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_unicode(text: str) -> bool:
    """Whether a text has no halves of surrogate pairs, which JSON can name and UTF-8 cannot hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"
