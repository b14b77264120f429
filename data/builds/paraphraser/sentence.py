"""A parsed sentence as words with their heads: what synonyms and question templates are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa


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


@dataclass(frozen=True)
class Sentence:
    """Tokens of a parse."""

    tokens: list[Token]

    def __len__(self) -> int:
        return len(self.tokens)

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
        while last > first and self.tokens[last - 1].pos == "PUNCT":  # a comma at the end stays out
            last -= 1
        while first < last and self.tokens[first].text == ",":
            first += 1
        return (first, last) if last > first else None


def sentences(table: pa.Table) -> Iterator[Sentence]:
    """The sentences of a table that `parses` wrote."""
    names = ("starts", "ends", "lemmas", "pos", "tags", "deps", "heads", "whitespace")
    for row in table.select(["text", *names]).to_pylist():
        tokens = zip(*(row[name] for name in names), strict=True)
        yield Sentence([Token(row["text"][start:end], *rest) for start, end, *rest in tokens])
