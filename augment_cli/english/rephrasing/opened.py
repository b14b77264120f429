"""A text that a request or a question opens, word by word, and the frames that stand for one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.resources import word_list, word_table
from augment_cli.syntax.tree import words

# What people ask an assistant to do. Those of the second list are nouns, too.
VERBS = frozenset(word_list("request_verbs"))
NOUNS_TOO = frozenset(word_list("request_nouns"))
# What may follow a verb of the second list, so that it is one.
OBJECTS = frozenset(word_list("request_objects"))
QUESTION_WORDS = words("what who where when why how which")
HAVE = words("have has had")
BE = words("is are was were")
MODALS = words("can could will would should must might")
DO = {"do": "", "does": "VBZ", "did": "VBD"}
AUXILIARIES = BE | MODALS | HAVE | frozenset(DO)
SUBJECTS = words("i you we they he she it there")
NAMES_THINGS = words("the my your our his her their")
ENDS = words(". ? !")
WEIGHT = words('" “ ” : ; ( ) [ ] … ... – —')
NO_QUESTION = words("about come if not else up")
REQUESTS = ("could you {}", "can you {}", "please {}", "can you please {}", "could you please {}")
WISHES = ("i'd like you to {}", "i need you to {}", "i want you to {}")
ASKING = ("can you tell me {}", "could you tell me {}", "do you know {}")
TELLING = ("tell me {}", "please tell me {}", "i'd like to know {}", "i want to know {}")
# Beginnings of a request, of a question that is told, and of a wish, the longest first.
POLITE = ("please", "pls", "plz", "kindly")
ABLE = tuple(f"{modal} {you}" for modal in ("can", "could", "would", "will") for you in ("you", "u"))
WISHED = tuple(
    f"{wish} you to" for wish in ("i want", "i need", "i would like", "i'd like", "i 'd like", "i’d like")
)
TOLD = word_list("told_questions")
OTHERS = {before: tuple(after) for before, *after in word_table("request_frames")}
REWORDED = {tuple(before.split()): after for before, after in OTHERS.items() if before != "how do i"}


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
