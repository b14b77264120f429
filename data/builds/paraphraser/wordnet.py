"""As much of WordNet's database as finding synonyms needs, read from its own files (wndb(5WN))."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

FILES = {"NOUN": "noun", "VERB": "verb", "ADJ": "adj", "ADV": "adv"}
KINDS = {"NOUN": "1", "VERB": "2", "ADJ": "35", "ADV": "4"}


class WordNet(NamedTuple):
    """Senses and how often they were tagged."""

    senses: dict[tuple[str, str], list[int]]  # (lemma, part of speech) to synsets, the most usual first
    members: dict[tuple[str, int], list[str]]  # (part of speech, synset) to its lemmas
    # (lemma, part of speech) to how often each sense was tagged in SemCor, in the order of `senses`
    counts: dict[tuple[str, str], list[int]]

    def share(self, word: tuple[str, str], sense: int) -> float:
        """Share of a word's tagged uses that has a sense, with one added to each sense."""
        counts = self.counts[word]
        return (counts[self.senses[word].index(sense)] + 1) / (sum(counts) + len(counts))


def load(folder: Path) -> WordNet:
    """Read ``index.*``, ``data.*`` and ``cntlist.rev`` of a WordNet 3.0 folder."""
    senses, members = {}, {}
    for pos, name in FILES.items():
        for line in _lines(folder / f"index.{name}"):
            fields = line.split()
            count = int(fields[2])
            senses[fields[0], pos] = [int(offset) for offset in fields[-count:]]
        for line in _lines(folder / f"data.{name}"):
            fields = line.split(" | ")[0].split()
            words = int(fields[3], 16)
            members[pos, int(fields[0])] = [
                fields[4 + 2 * k].split("(")[0].lower()
                for k in range(words)
                if fields[4 + 2 * k][0].islower()
            ]
    tagged: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for line in _lines(folder / "cntlist.rev"):
        sense, number, uses = line.split()
        lemma, kind = sense.split("%")
        part = next((part for part, kinds in KINDS.items() if kind[0] in kinds), None)
        if part:
            tagged[lemma, part][int(number)] = int(uses)
    counts = {
        key: [tagged[key][number + 1] for number in range(len(offsets))] for key, offsets in senses.items()
    }
    return WordNet(senses, members, counts)


def _lines(path: Path) -> list[str]:
    """Lines after the licence, which is indented."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != " "]
