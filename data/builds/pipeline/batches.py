"""Sentences as the teacher's tensors, and labels as its output units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from data.builds.pipeline.lemma_scripts import SAME, lemma_script
from data.builds.pipeline.treebank import Sentence

CASES = 12  # see case_class
LONGEST = 480  # pieces; the encoder has 512 positions
IGNORED = -100  # label of a padded word in every loss


def case_class(word: str, after_space: bool) -> int:
    """Return what the encoder's lower-casing hides of a word, 0 to 11."""
    if any(character.isdigit() for character in word):
        shape = 0
    elif word.islower():
        shape = 1
    elif word.istitle() and len(word) > 1:
        shape = 2
    elif word.isupper():
        shape = 3 if len(word) > 1 else 4
    else:
        shape = 5
    return 2 * shape + after_space


@dataclass
class Labels:
    """The label sets of the heads, in the order of the output units."""

    features: list[str]  # "UPOS|Features"
    tags: list[str]
    lemmas: list[str]  # lemma scripts
    deps: list[str]

    @classmethod
    def collect(cls, sentences: Iterable[Sentence]) -> Labels:
        """Collect all labels of a treebank; lemma scripts only where they occur twice."""
        features, tags, lemmas, deps = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for sentence in sentences:
            features.update(f"{p}|{m}" for p, m in zip(sentence.pos, sentence.morphs, strict=True))
            tags.update(sentence.tags)
            lemmas.update(map(lemma_script, sentence.words, sentence.lemmas))
            deps.update(sentence.deps)
        scripts = sorted({SAME} | {script for script, count in lemmas.items() if count > 1})
        return cls(sorted(features), sorted(tags), scripts, sorted(deps))


@dataclass
class Batch:
    """Padded tensors of some sentences: B sentences, P pieces, W words."""

    pieces: Tensor  # (B, P) ids
    mask: Tensor  # (B, P) 1 where there is a piece
    cases: Tensor  # (B, P)
    first: Tensor  # (B, W) position of each word's first piece
    last: Tensor  # (B, W)
    words: Tensor  # (B, W) bool: there is a word
    gold: dict[str, Tensor]  # each (B, W)


class Batcher:
    """Turns sentences into `Batch`es for one encoder and label set."""

    def __init__(self, tokenizer: Any, labels: Labels) -> None:
        self.tokenizer, self.labels = tokenizer, labels
        self.known: dict[str, list[int]] = {}
        self.units = {
            name: {label: unit for unit, label in enumerate(getattr(labels, name))}
            for name in ("features", "tags", "lemmas", "deps")
        }

    def pieces(self, word: str) -> list[int]:
        """Return the piece ids of one word, at least one."""
        if word not in self.known:
            ids = self.tokenizer(word, add_special_tokens=False)["input_ids"]
            self.known[word] = ids[:16] or [self.tokenizer.unk_token_id]
        return self.known[word]

    def fits(self, sentence: Sentence) -> bool:
        """Whether the encoder has positions enough."""
        return sum(len(self.pieces(word)) for word in sentence.words) <= LONGEST

    def batch(self, sentences: Sequence[Sentence], gold: bool) -> Batch:
        """Pad some sentences into one batch, with their gold labels where `gold`."""
        columns: dict[str, list[list[int]]] = {name: [] for name in ("pieces", "cases", "first", "last")}
        for sentence in sentences:
            pieces, cases, first, last = [self.tokenizer.cls_token_id], [0], [], []
            before = True
            for word, space in zip(sentence.words, sentence.spaces, strict=True):
                ids = self.pieces(word)
                first.append(len(pieces))
                pieces += ids
                cases += [case_class(word, before)] * len(ids)
                last.append(len(pieces) - 1)
                before = space
            for name, values in (
                ("pieces", [*pieces, self.tokenizer.sep_token_id]),
                ("cases", [*cases, 0]),
                ("first", first),
                ("last", last),
            ):
                columns[name].append(values)
        lengths = [len(sentence.words) for sentence in sentences]
        labels: dict[str, Tensor] = {}
        if gold:
            labels["heads"] = pad(
                [[0 if head == i else head + 1 for i, head in enumerate(s.heads)] for s in sentences], IGNORED
            )
            for name, unit in self.units.items():
                labels[name] = pad([self._gold(s, name, unit) for s in sentences], IGNORED)
        return Batch(
            pieces=pad(columns["pieces"], self.tokenizer.pad_token_id),
            mask=pad([[1] * len(row) for row in columns["pieces"]], 0),
            cases=pad(columns["cases"], 0),
            first=pad(columns["first"], 0),
            last=pad(columns["last"], 0),
            words=pad([[1] * length for length in lengths], 0).bool(),
            gold=labels,
        )

    @staticmethod
    def _gold(sentence: Sentence, name: str, unit: dict[str, int]) -> list[int]:
        if name == "features":
            values = [f"{p}|{m}" for p, m in zip(sentence.pos, sentence.morphs, strict=True)]
        elif name == "lemmas":
            values = list(map(lemma_script, sentence.words, sentence.lemmas))
        else:
            values = getattr(sentence, name)
        return [unit.get(value, IGNORED) for value in values]


def pad(rows: list[list[int]], value: int) -> Tensor:
    """Return rows of different lengths as one matrix."""
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def by_length(sentences: Sequence[Sentence], words: int) -> list[list[int]]:
    """Group the sentences' indices, sorted by length, so that each group pads to at most `words` words."""
    groups: list[list[int]] = []
    for index in sorted(range(len(sentences)), key=lambda i: len(sentences[i].words)):
        if not groups or (len(groups[-1]) + 1) * len(sentences[index].words) > words:
            groups.append([])
        groups[-1].append(index)
    return groups
