"""What rules know of a language, declared once; a language is such an object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Language:
    """A language, as far as rules on parses ask: the defaults are for one of which nothing is known."""

    code: str  # ISO 639-1, as spaCy's pipelines have it in front of their names
    name: str  # in English
    comma: str = ","  # the marks that `pi` puts in; opening and closing are quotation marks
    opening: str = '"'
    closing: str = '"'
    exclamation: str = "!"
    has_spaces: bool = True  # whether a space stands between words
    # first and last code point of each range of characters that no other language here has: a row is in
    # this language where at least half of its tokens begin with one, whatever the pipeline is for
    script: tuple[tuple[int, int], ...] = ()
    # words in lower case, names too, with how much each says that a text is in this language, from 0 to 1
    vocabulary: Callable[[], Mapping[str, float]] | None = None
    # labels of clauses that no mark may part from what they belong to, without their subtypes
    joined_clauses: frozenset[str] = frozenset()
    # A clause of fewer tokens in front of its verb takes no comma: it is an adverbial
    shortest_clause: int = 0
    joining: frozenset[str] = frozenset()  # coarse tags of words behind which no clause begins
    # the rules of these augmentations by their mode, `faithful` first of all; a mode that is not here
    # changes nothing. ``(view, rows, draw, names, edits)`` and ``(view, rows, draw, edits)`` to an `Answer`
    # (`augment_cli/contract/rows.py`).
    aa: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    dn: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


UNKNOWN = Language("xx", "an unknown language")
