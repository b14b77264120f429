"""A parsed sentence as the plain rules of `reference_rules` read it: tokens with heads, nothing more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SUBJECTS = {"nsubj", "nsubjpass"}


@dataclass
class Token:
    """A token as spaCy has it."""

    i: int
    text: str
    start: int
    end: int
    space: bool
    lemma: str
    pos: str
    tag: str
    morph: str
    dep: str
    head: int

    @property
    def lower(self) -> str:
        return self.text.lower()


class Sentence:
    """A text with its tokens."""

    def __init__(self, text: str, row: dict[str, Any]) -> None:
        self.text = text
        columns = ("starts", "ends", "whitespace", "lemmas", "pos", "tags", "morphs", "deps", "heads")
        self.tokens = [
            Token(i, text[start:end], start, end, *rest)
            for i, (start, end, *rest) in enumerate(zip(*(row[name] for name in columns), strict=True))
        ]
        roots = [token for token in self.tokens if token.head == token.i]
        verbs = [token for token in roots if token.pos in {"VERB", "AUX"}]
        self.root = (verbs or roots)[0]

    def children(self, head: Token) -> list[Token]:
        return [token for token in self.tokens if token.head == head.i and token.i != head.i]

    def subtree(self, head: Token) -> list[Token]:
        found, waiting = {head.i}, [head]
        while waiting:
            for child in self.children(waiting.pop()):
                if child.i not in found:
                    found.add(child.i)
                    waiting.append(child)
        return [self.tokens[i] for i in sorted(found)]

    def is_mark(self, token: Token) -> bool:
        punctuation = token.pos == "PUNCT" or (token.dep == "punct" and token.head != token.i)
        return punctuation and not token.text.isspace() and not any(map(str.isalnum, token.text))

    def subject(self) -> Token | None:
        return next((token for token in self.children(self.root) if token.dep in SUBJECTS), None)

    def replaced(self, *edits: tuple[int, int, str]) -> str:
        text = self.text
        for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return text
