"""CoNLL-U treebanks as spaCy documents whose text is the raw text.

A Universal Dependencies treebank lists syntactic words; what stood in the text as one token ("don't") is a
multi-word range above its words ("do", "n't"). The words become spaCy tokens, and the ranges and
``SpaceAfter=No`` decide where spaces go, so that ``doc.text`` equals the treebank's ``# text`` comment.

Format: https://universaldependencies.org/format.html
"""

import gzip
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab


@dataclass
class Sentence:
    """One tree: parallel lists with one entry a syntactic word."""

    text: str
    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)  # whether a space follows in the raw text
    lemmas: list[str] = field(default_factory=list)
    pos: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    morphs: list[str] = field(default_factory=list)  # universal features, ``""`` where the treebank has ``_``
    # index of the head word within the sentence; a root is its own head, as in spaCy
    heads: list[int] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Read the trees of a ``.conllu`` or ``.conllu.gz`` file in order."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        block: list[str] = []
        for line in file:
            if line.strip():
                block.append(line.rstrip("\n"))
            elif block:
                yield parse_sentence(block)
                block = []
        if block:
            yield parse_sentence(block)


def parse_sentence(lines: Sequence[str]) -> Sentence:
    """Build one tree from its CoNLL-U lines (comments, words, multi-word ranges, empty nodes)."""
    text = next((line[len("# text = ") :] for line in lines if line.startswith("# text = ")), "")
    sentence = Sentence(text)
    range_end, range_space = 0, True
    for line in lines:
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        identifier, misc = columns[0], columns[9].split("|")
        space = "SpaceAfter=No" not in misc
        if "." in identifier:  # an empty node of the enhanced graph: not in the text
            continue
        if "-" in identifier:
            range_end, range_space = int(identifier.split("-")[1]), space
            continue
        number, head = int(identifier), int(columns[6])
        if number < range_end:
            space = False
        elif number == range_end:
            space = range_space
        sentence.words.append(columns[1])
        sentence.lemmas.append(columns[2])
        sentence.pos.append(columns[3])
        sentence.tags.append(columns[4])
        sentence.morphs.append("" if columns[5] == "_" else columns[5])
        sentence.heads.append(head - 1 if head else number - 1)
        sentence.deps.append(columns[7] if head else "ROOT")
        sentence.spaces.append(space)
    if sentence.spaces:
        sentence.spaces[-1] = False
    built = "".join(w + " " * s for w, s in zip(sentence.words, sentence.spaces, strict=True))
    if text and built != text:
        raise ValueError(f"words and spaces give {built!r}, but the text comment says {text!r}")
    sentence.text = built
    return sentence


def make_doc(vocab: Vocab, sentences: Sequence[Sentence]) -> Doc:
    """Join sentences by spaces into one document with tags, features, lemmas and trees."""
    words: list[str] = []
    spaces: list[bool] = []
    heads: list[int] = []
    for index, sentence in enumerate(sentences):
        heads += [len(words) + head for head in sentence.heads]
        words += sentence.words
        spaces += sentence.spaces
        spaces[-1] = index + 1 < len(sentences)
    return Doc(
        vocab,
        words=words,
        spaces=spaces,
        heads=heads,
        deps=[dep for sentence in sentences for dep in sentence.deps],
        pos=[pos for sentence in sentences for pos in sentence.pos],
        tags=[tag for sentence in sentences for tag in sentence.tags],
        morphs=[morph for sentence in sentences for morph in sentence.morphs],
        lemmas=[lemma for sentence in sentences for lemma in sentence.lemmas],
        sent_starts=[i == 0 for sentence in sentences for i in range(len(sentence.words))],
    )


def group(
    sentences: Iterable[Sentence], share: float, largest: int, generator: random.Random
) -> Iterator[list[Sentence]]:
    """Cut a sequence of sentences into groups, so that a parser also learns where sentences end."""
    waiting: list[Sentence] = []
    wanted = 0
    for sentence in sentences:
        if not waiting:
            wanted = generator.randint(2, largest) if generator.random() < share else 1
        waiting.append(sentence)
        if len(waiting) == wanted:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
