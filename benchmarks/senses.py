"""Which sense of WordNet a noun or verb has in its sentence: the first one, or one chosen by the sentence.

    python -m benchmarks.senses                        # with what ships: related words, the static encoder
    python -m benchmarks.senses --wordnet FOLDER       # also by glosses (data.noun and data.verb of 3.0)

Reads `data/judged/senses/cases.jsonl`: 300 words in sentences of public-domain books, each with the senses
(ranks in WordNet 3.0) that a reader found right; none where the words of a phrase, or a wrong tag, have no
sense of their own. The weight of the sentence against a sense's share of the tagged texts is chosen on the
half `tuned`; what counts is the half `reported`. Printed are right choices of each method, then how often
the first sense is right where it makes up a certain share of the word's uses.

Methods: `overlap` counts the words that the sentence shares with the sense's own and related words (Lesk
1986, and Banerjee and Pedersen 2002 with glosses); `vectors` is the cosine of the sentence without the word
and of those words, by the shipped static encoder.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.resources.word_lists import word_list
from augment_cli.resources.wordnet import PART_LETTERS, WordNet, load_wordnet

ROOT = Path(__file__).parents[1]
CASES = ROOT / "data/judged/senses/cases.jsonl"
STATIC = ROOT / "data/models/static"
HALVES = ("tuned", "reported")
SHARES = (0.3, 0.4, 0.5, 0.6, 0.7)
_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
_MOST_RELATED = 30
_FILES = {"n": "data.noun", "v": "data.verb"}
Glosses = dict[tuple[str, int], str]


@dataclass(frozen=True)
class Case:
    """A word in its sentence."""

    text: str
    start: int  # span of the word, code points
    end: int
    lemma: str  # as in WordNet; part "n" or "v"
    part: str
    senses: tuple[int, ...]  # ranks from 1 of the senses that are right; may be empty
    half: str

    @property
    def context(self) -> str:
        """The sentence without the word."""
        return f"{self.text[: self.start]} {self.text[self.end :]}".strip() or "."


def read_cases(path: Path = CASES) -> list[Case]:
    """The judged cases."""
    lines = path.read_text("utf-8").splitlines()
    return [Case(**{**line, "senses": tuple(line["senses"])}) for line in map(json.loads, lines)]


def read_glosses(folder: Path) -> Glosses:
    """Glosses with their examples by part and offset, from WordNet's database files."""
    glosses: Glosses = {}
    for part, name in _FILES.items():
        for line in (folder / name).read_text("latin-1").splitlines():
            if not line.startswith("  "):
                glosses[part, int(line[:8])] = line.partition(" | ")[2].strip()
    return glosses


class Senses:
    """Senses of the cases' words: their shares, and texts that say what they mean."""

    def __init__(self, glosses: Glosses) -> None:
        self._wordnet: WordNet = load_wordnet()
        self._glosses = glosses
        names = zip(self._wordnet.lemmas.to_pylist(), self._wordnet.entry_parts.tolist(), strict=True)
        self._entries = {name: number for number, name in enumerate(names)}

    def of(self, case: Case) -> range:
        """The word's senses in WordNet's order, the most frequent first."""
        entry = self._entries[case.lemma, PART_LETTERS.index(case.part)]
        return range(*self._wordnet.entry_senses[entry : entry + 2].tolist())

    def shares(self, case: Case) -> np.ndarray:
        """float64 (k,): how much of the word's uses each sense makes up."""
        own = self.of(case)
        return self._wordnet.sense_shares[own.start : own.stop]

    def text(self, sense: int, part: str) -> str:
        """Words of a sense and of the synsets above and below it, and their glosses where there are any."""
        wordnet = self._wordnet
        own = wordnet.sense_synsets[sense : sense + 1]
        related = [*wordnet.hypernyms.expand(own)[1], *wordnet.hyponyms.expand(own)[1][:_MOST_RELATED]]
        pieces = []
        for synset in [*own.tolist(), *map(int, related)]:
            words = wordnet.synset_senses.expand(np.array([synset]))[1]
            pieces += [wordnet.spellings[int(word)].as_py() for word in words]
            pieces.append(self._glosses.get((part, int(wordnet.synset_offsets[synset])), ""))
        return ", ".join(filter(None, pieces))


def _words(text: str) -> set[str]:
    ignored = set(word_list("function_words"))
    return {word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in ignored}


def overlaps(cases: Sequence[Case], senses: Senses) -> list[np.ndarray]:
    """For each case: words that its sentence shares with each sense, float64 (k,)."""
    return [
        np.array(
            [
                float(len(_words(case.context) & _words(senses.text(sense, case.part)) - {case.lemma}))
                for sense in senses.of(case)
            ]
        )
        for case in cases
    ]


def cosines(cases: Sequence[Case], senses: Senses) -> list[np.ndarray]:
    """For each case: cosine of its sentence to each sense, by the shipped static encoder, float64 (k,)."""
    from augment_cli.encoding.loading import load_encoder

    encoder = load_encoder(STATIC)
    result = []
    for case in cases:
        texts = [case.context, *(senses.text(sense, case.part) for sense in senses.of(case))]
        vectors = np.asarray(encoder.encode(texts), np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        result.append(vectors[1:] @ vectors[0])
    return result


def right(cases: Sequence[Case], chosen: Sequence[int], half: str) -> tuple[int, int]:
    """How many cases of a half have the sense (a place from 0) chosen for them, and how many there are."""
    own = [(case, place) for case, place in zip(cases, chosen, strict=True) if case.half == half]
    return sum(place + 1 in case.senses for case, place in own), len(own)


def rows(cases: Sequence[Case], glosses: Glosses, vectors: bool = True) -> Iterator[tuple[str, str, str]]:
    """Method, and right of all in each half."""
    senses = Senses(glosses)
    shares = [np.log(senses.shares(case)) for case in cases]
    kinds = [("related words", Senses({}))] + ([("glosses", senses)] if glosses else [])
    methods = [("overlap", overlaps)] + ([("vectors", cosines)] if vectors else [])
    yield _row("first sense", cases, [0] * len(cases))
    for name, source in kinds:
        for method, score in methods:
            scores = score(cases, source)
            chosen = {weight: _best(scores, shares, weight) for weight in _WEIGHTS}
            tuned = [right(cases, chosen[weight], HALVES[0])[0] for weight in _WEIGHTS]
            best = _WEIGHTS[tuned.index(max(tuned))]  # the smallest of equals
            yield _row(f"{method} with {name}, weight {best:g}", cases, chosen[best])
    for share in SHARES:
        kept = [case for case in cases if senses.shares(case)[0] >= share]
        yield _row(f"first sense, share ≥ {share:g}", kept, [0] * len(kept))


def _best(scores: Sequence[np.ndarray], shares: Sequence[np.ndarray], weight: float) -> list[int]:
    """Place of the sense with the highest sum for each case."""
    return [int(np.argmax(weight * one + other)) for one, other in zip(scores, shares, strict=True)]


def _row(name: str, cases: Sequence[Case], chosen: Sequence[int]) -> tuple[str, str, str]:
    counts = [right(cases, chosen, half) for half in HALVES]
    return name, _of(*counts[0]), _of(*counts[1])


def _of(good: int, count: int) -> str:
    return f"{good} of {count} ({good / count:.1%})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wordnet", type=Path, help="folder with data.noun and data.verb of WordNet 3.0")
    folder = parser.parse_args().wordnet
    glosses: Glosses = {}
    if folder is None:
        print("no glosses: give --wordnet FOLDER (Debian's wordnet-base has the files)")
    else:
        glosses = read_glosses(folder)
    print("| method | half that was tuned on | half that counts |\n|---|---|---|")
    for row in rows(read_cases(), glosses):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
