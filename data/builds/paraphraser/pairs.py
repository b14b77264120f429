"""Make the paraphraser's training pairs from parsed sentences, wiki-split and question templates.

    python -m data.builds.paraphraser.pairs --work FOLDER --wikisplit FILE

Every rule that applies to a sentence is applied, so that the target is a function of the source. Writes
``pairs.tsv.gz`` (kind, source, target) and ``pairs.npz`` (their token ids, shuffled).
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from data.builds.paraphraser import clauses, parses, phrases, questions, tokens, wikisplit
from data.builds.paraphraser.sentence import Sentence
from data.builds.paraphraser.synonyms import TAGS, form

CHANGE = 0.15  # of the pairs of neighbouring words that a target must not share with its source
LONGEST = 56  # tokens
QUESTIONS = 8_000
SEED = 44
Pair = tuple[str, str]
Synonyms = dict[tuple[str, str], str]
HERE = Path(__file__).parent


def read_synonyms(path: Path, folder: Path = HERE) -> Synonyms:
    """The table that `synonyms` wrote, as a reader corrected it.

    ``rejected.txt`` names words whose choice is wrong too often (``word`` or ``word/N``), ``added.tsv`` has
    synonyms from our own heads, which win.
    """
    rejected = set((folder / "rejected.txt").read_text(encoding="utf-8").split())
    rows = (line.split("\t")[:3] for line in path.read_text(encoding="utf-8").splitlines())
    table = {
        (lemma, pos): other
        for lemma, pos, other in rows
        if lemma not in rejected and f"{lemma}/{pos[0]}" not in rejected
    }
    added = (line.split("\t") for line in (folder / "added.tsv").read_text(encoding="utf-8").splitlines())
    return table | {(lemma, pos): other for lemma, pos, other in added}


def use_synonyms(sentence: Sentence, table: Synonyms) -> None:
    """Replace every word that has a synonym and stands in no changed phrase."""
    for index, token in enumerate(sentence.tokens):
        other = table.get((token.lemma.lower(), token.pos))
        if other is None or token.tag not in TAGS[token.pos] or not sentence.free(index, index + 1):
            continue
        if not (token.text.islower() or index == 0) or token.dep in ("fixed", "compound:prt", "flat"):
            continue
        if "-" in (t.text for t in sentence.tokens[max(0, index - 1) : index + 2]):
            continue  # "built-in", "Spanish-speaking"
        if sentence.child(index, "compound:prt", "fixed") is not None:
            continue
        if token.text == "used" and index + 1 < len(sentence) and sentence.tokens[index + 1].text == "to":
            continue
        word = form(other, token.tag, token.text)
        if word is not None:
            sentence.words[index] = word


def paraphrase(sentence: Sentence, table: Synonyms) -> str:
    """Apply all rules to a sentence; its text, unchanged where none applies."""
    for rule in phrases.RULES:
        rule(sentence)
    use_synonyms(sentence, table)
    return sentence.render(clauses.reorder(sentence))


def change(source: str, target: str) -> float:
    """Share of the target's pairs of neighbouring words (ends included) that the source does not have."""
    left, right = ([("", *text.split())] for text in (source, target))
    have = Counter(zip(left[0], (*left[0][1:], ""), strict=True))
    want = Counter(zip(right[0], (*right[0][1:], ""), strict=True))
    return 1 - sum((have & want).values()) / max(1, sum(want.values()))


def common_words(sentences: Iterable[Sentence]) -> frozenset[str]:
    """Words that stand small more often than with a capital, first words left out."""
    counts = Counter(token.text for sentence in sentences for token in sentence.tokens[1:])
    return frozenset(w for w in counts if w.islower() and counts[w] > counts[w.capitalize()])


def from_parses(folder: Path, table: Synonyms) -> Iterator[Pair]:
    """Yield the pairs that the rules make of parsed sentences."""
    from itertools import islice

    common = common_words(map(Sentence.from_doc, islice(parses.read(folder), 10_000)))
    for document in parses.read(folder):
        sentence = Sentence.from_doc(document, common)
        source = sentence.render()
        target = paraphrase(sentence, table)
        if change(source, target) >= CHANGE:
            yield source, target


def main() -> None:
    """Read the command line, make the pairs, write text and ids."""
    from itertools import islice

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="work folder with parses/ and synonyms.tsv")
    parser.add_argument("--wikisplit", type=Path, required=True, help="wikisplit.tsv.gz")
    args = parser.parse_args()
    parsed = (Sentence.from_doc(d) for d in islice(parses.read(args.work / "parses"), 10_000))
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
