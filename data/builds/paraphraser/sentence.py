"""A parsed sentence that rules can take apart and put together again."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Piece = int | str  # a token of the sentence, or a word of the rule's own

CLOSING = {".", ",", ";", ":", "?", "!", ")", "]", "”", "’", "%"}
OPENING = {"(", "[", "“", "‘", "$", "£", "€"}
ENCLITIC = ("'s", "’s", "n't", "n’t", "'re", "'ve", "'ll", "'d", "'m")
VOWELS = "aeiouAEIOU"


@dataclass(frozen=True)
class Token:
    """One token with its Universal Dependencies analysis; `head` is a token number, its own for the root."""

    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    space: bool = True


@dataclass
class Sentence:
    """Tokens, and what rules have decided to do with them.

    Attributes
    ----------
    tokens : list of Token
        The parse.
    words : dict of int to str
        Token number to the word that replaces it.
    spans : dict of int to (int, list of Piece)
        First token of a span to its end (exclusive) and the pieces that replace it.
    common : frozenset of str
        Words that are written small inside a sentence, for the first word when it moves away from there.
    """

    tokens: list[Token]
    words: dict[int, str] = field(default_factory=dict)
    spans: dict[int, tuple[int, list[Piece]]] = field(default_factory=dict)
    common: frozenset[str] = frozenset()

    @classmethod
    def from_doc(cls, doc: Any, common: frozenset[str] = frozenset()) -> Sentence:
        """From a spaCy document (or any sequence of things with spaCy's attributes)."""
        return cls(
            [Token(t.text, t.lemma_, t.pos_, t.tag_, t.dep_, t.head.i, bool(t.whitespace_)) for t in doc],
            common=common,
        )

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def children(self) -> list[list[int]]:
        """Dependents of each token, in order."""
        dependents: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head != index:
                dependents[token.head].append(index)
        return dependents

    @cached_property
    def root(self) -> int:
        """Number of the first root."""
        return next((i for i, token in enumerate(self.tokens) if token.head == i), 0)

    def child(self, index: int, *deps: str) -> int | None:
        """First dependent of a token with one of the relations."""
        return next((i for i in self.children[index] if self.tokens[i].dep in deps), None)

    @cached_property
    def extents(self) -> list[tuple[int, int, int]]:
        """Of each token's subtree: first token, last token, number of tokens."""
        found = [[i, i, 1] for i in range(len(self))]
        for index in range(len(self)):
            above, seen = self.tokens[index].head, index
            for _ in range(len(self)):  # no longer than the sentence, even where heads run in a circle
                if above == seen:
                    break
                extent = found[above]
                extent[0], extent[1], extent[2] = min(extent[0], index), max(extent[1], index), extent[2] + 1
                above, seen = self.tokens[above].head, above
        return [(first, last, count) for first, last, count in found]

    def block(self, index: int) -> tuple[int, int] | None:
        """First and last-plus-one token of a subtree that is one stretch of text; None if it is not."""
        first, last, count = self.extents[index]
        if last - first + 1 != count:
            return None
        last += 1
        while (
            last > first and self.tokens[last - 1].pos == "PUNCT"
        ):  # a comma attached to the phrase stays out
            last -= 1
        while first < last and self.tokens[first].text == ",":
            first += 1
        return (first, last) if last > first else None

    @property
    def end(self) -> int:
        """Number of the first of the closing punctuation marks."""
        last = len(self.tokens)
        while last and self.tokens[last - 1].pos == "PUNCT":
            last -= 1
        return last

    def free(self, first: int, last: int) -> bool:
        """Whether no span rule has taken any of these tokens."""
        return all(last <= start or first >= end for start, (end, _) in self.spans.items())

    def replace(self, first: int, last: int, pieces: list[Piece]) -> bool:
        """Note that a span becomes `pieces`; False where it is empty or another rule was there before."""
        if last <= first or not self.free(first, last):
            return False
        self.spans[first] = (last, pieces)
        return True

    def render(self, order: list[Piece] | None = None) -> str:
        """The sentence's text with the noted changes, its blocks in `order`.

        A span change takes place only where `order` keeps the span together.
        """
        order = list(range(len(self))) if order is None else order
        leaves: list[Piece] = []
        position = 0
        while position < len(order):
            piece = order[position]
            change = self.spans.get(piece) if isinstance(piece, int) else None
            span = list(range(piece, change[0])) if change and isinstance(piece, int) else []
            if change and order[position : position + len(span)] == span:
                leaves += change[1]
                position += len(span)
            else:
                leaves.append(piece)
                position += 1
        return _capitalise(_agree(self._join(leaves)))

    def _join(self, leaves: list[Piece]) -> str:
        text, before = "", None
        for leaf in leaves:
            word = self._word(leaf) if isinstance(leaf, int) else leaf
            if not word:
                continue
            if before is None:
                glue = ""
            elif isinstance(leaf, int) and isinstance(before, int) and leaf == before + 1:
                glue = " " if self.tokens[before].space else ""
            elif word in CLOSING or word.startswith(ENCLITIC) or text[-1] in OPENING:
                glue = ""
            elif (
                isinstance(before, int)
                and self.tokens[before].pos == "PUNCT"
                and not self.tokens[before].space
            ):
                glue = ""  # a quotation mark that opens
            else:
                glue = " "
            text += glue + word
            before = leaf
        return text

    def _word(self, index: int) -> str:
        token = self.tokens[index]
        word = self.words.get(index, token.text)
        if index == 0 and token.text.lower() in self.common:
            return word[:1].lower() + word[1:]
        return word


def _capitalise(text: str) -> str:
    first = next((i for i, letter in enumerate(text) if letter.isalnum()), None)
    return text if first is None else text[:first] + text[first].upper() + text[first + 1 :]


def _agree(text: str) -> str:
    """Fit "a" and "an" to the word after them, where spelling tells."""
    words = text.split(" ")
    for index in range(len(words) - 1):
        after = words[index + 1].lstrip("\"'“‘(")
        if words[index] in ("a", "A", "an", "An") and after[:1].isalpha() and after[:1].islower():
            sounds = after[0] in VOWELS or after.startswith(("hour", "honest", "honour", "honor", "heir"))
            if after.startswith(("uni", "use", "usu", "eu", "one", "once", "uti", "ubi", "ura")):
                sounds = after.startswith(("unin", "unim"))
            words[index] = words[index][0] + ("n" if sounds else "")
    return " ".join(words)
