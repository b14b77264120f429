"""Make the paraphraser's training pairs from parsed sentences, wiki-split and question templates.

    python -m data.builds.paraphraser.pairs --work FOLDER --wikisplit FILE

Every rule of `rephrase` that applies to a sentence is applied, always with the first of its replacements, so
that the target is a function of the source. Writes
``pairs.tsv.gz`` (kind, source, target) and ``pairs.npz`` (their token ids, shuffled).
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.rules.rephrase import RephraseParameters, Rephrasing
from augment_cli.english.rephrasing.lexicon import Synonyms, shipped_synonyms
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints, apply_edits
from data.builds.paraphraser import parses, questions, tokens, wikisplit
from data.builds.paraphraser.sentence import sentences

CHANGE = 0.15  # of the pairs of neighbouring words that a target must not share with its source
LONGEST = 56  # tokens
QUESTIONS = 8_000
SEED = 44
Pair = tuple[str, str]
HERE = Path(__file__).parent
EVERYTHING = RephraseParameters(clauses=1.0, phrases=1.0, words=1.0)


def read_synonyms(path: Path, folder: Path = HERE) -> Synonyms:
    """Table that `synonyms` wrote, as a reader corrected it, and those that `rephrase` ships, which win."""
    # ``rejected.txt`` names words whose choice is wrong too often (``word`` or ``word/N``).
    rejected = set((folder / "rejected.txt").read_text(encoding="utf-8").split())
    rows = (line.split("\t")[:3] for line in path.read_text(encoding="utf-8").splitlines())
    table = {
        (lemma, pos): (other,)
        for lemma, pos, other in rows
        if lemma not in rejected and f"{lemma}/{pos[0]}" not in rejected
    }
    return table | shipped_synonyms()


def paraphrases(table: pa.Table, synonyms: Synonyms) -> pa.StringArray:
    """Every rule applied to the sentences of a part; a text stays as it is where none applies."""
    texts = CodePoints.of(table["text"])
    rephrasing = Rephrasing(EVERYTHING, None, synonyms)
    parsed = ParseRows.from_table(table.drop_columns(["text"]).combine_chunks(), texts)
    edits, _ = rephrasing.edits(parsed, np.zeros(len(table), np.int64))
    return apply_edits(texts, edits)


def change(source: str, target: str) -> float:
    """Share of the target's pairs of neighbouring words (ends included) that the source does not have."""
    left, right = ([("", *text.split())] for text in (source, target))
    have = Counter(zip(left[0], (*left[0][1:], ""), strict=True))
    want = Counter(zip(right[0], (*right[0][1:], ""), strict=True))
    return 1 - sum((have & want).values()) / max(1, sum(want.values()))


def from_parses(folder: Path, synonyms: Synonyms) -> Iterator[Pair]:
    """Yield the pairs that the rules make of parsed sentences."""
    for part in parses.read(folder):
        targets = paraphrases(part, synonyms).to_pylist()
        for source, target in zip(part["text"].to_pylist(), targets, strict=True):
            if change(source, target) >= CHANGE:
                yield source, target


def main() -> None:
    """Read the command line, make the pairs, write text and ids."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="work folder with parses/ and synonyms.tsv")
    parser.add_argument("--wikisplit", type=Path, required=True, help="wikisplit.tsv.gz")
    args = parser.parse_args()
    parsed = islice(chain.from_iterable(map(sentences, parses.read(args.work / "parses"))), 10_000)
    split = list(wikisplit.pairs(args.wikisplit))
    made = {
        "rules": list(from_parses(args.work / "parses", read_synonyms(args.work / "synonyms.tsv"))),
        "split": split[::2],
        "merge": [(two, one) for one, two in split[1::2]],
        "question": list(questions.questions(*questions.phrases(parsed), QUESTIONS, SEED)),
    }
    rows = [(kind, *pair) for kind, pairs in made.items() for pair in pairs]
    random.Random(SEED).shuffle(rows)
    with gzip.open(args.work / "pairs.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.writelines("\t".join(row) + "\n" for row in rows)
    sides = [tokens.encode([row[side] for row in rows], args.work / "vocabulary") for side in (1, 2)]
    short = [i for i in range(len(rows)) if max(len(side.row(i)) for side in sides) <= LONGEST]
    source, target = (tokens.select(side, short) for side in sides)
    tokens.save({"source": source, "target": target}, args.work / "pairs.npz")
    print({kind: len(pairs) for kind, pairs in made.items()}, f"{len(short)} short enough")


if __name__ == "__main__":
    main()
