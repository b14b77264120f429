"""A text that a request or a question opens, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from augment_cli.english.rephrasing.grammar import Grammar


@dataclass(frozen=True)
class Text:
    """A text that a request or a question opens, word by word."""

    grammar: Grammar
    first: int
    last: int  # the last word in front of the mark
    mark: str

    @cached_property
    def words(self) -> list[str]:
        """The words, in lower case."""
        return [self.grammar.text(token).lower() for token in range(self.first, self.last + 1)]

    @cached_property
    def is_small(self) -> bool:
        """Whether nothing in the text has a capital."""
        text = self.grammar.text(self.first, self.last)
        return text == text.lower()

    def tag(self, place: int) -> str:
        """Penn tag of a word."""
        return self._of("tags", place)

    def pos(self, place: int) -> str:
        """Part of speech of a word."""
        return self._of("pos", place)

    def _of(self, kind: str, place: int) -> str:
        strings = getattr(self.grammar.parses, kind)
        return str(strings.values[strings.codes[self.first + place]])

    def begins(self, *openings: str) -> int:
        """How many words the longest of some openings has with which the text begins, or 0."""
        own = self.words
        lengths = [
            len(opening.split()) for opening in openings if own[: len(opening.split())] == opening.split()
        ]
        return max(lengths, default=0)

    def text(self, place: int, end: int | None = None) -> str:
        """The text from a word on, up to and with another; a first word without its capital."""
        last = self.last if end is None else self.first + end
        return (
            self.grammar.inward(self.first, last)
            if place == 0
            else self.grammar.text(self.first + place, last)
        )

    def told(self, frame: str, body: str) -> str:
        """A frame around a body, written as the text is."""
        text = frame.format(body)
        if not self.is_small or self.grammar.text(self.first)[0].isupper():
            text = " ".join(
                "I" + word[1:] if word in ("i", "i'd", "i've") else word for word in text.split(" ")
            )
        return self.grammar.capital(text, self.first)
