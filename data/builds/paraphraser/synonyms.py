"""Choose one synonym a word, from WordNet, for the training pairs.

    python -m data.builds.paraphraser.synonyms --work FOLDER --wordnet FOLDER

A word's candidates are the members of its two most usual senses that are themselves usual words with that
sense. Of
those the one is kept that changes short contexts least, by the cosine of all-MiniLM-L6-v2 (only this filter;
nothing is trained on it), if it changes them little enough. One choice a word makes the pairs a function the
small model can learn: with several equally good answers, beam search would prefer to change nothing.

Writes ``synonyms.tsv``: lemma, part of speech, synonym, mean cosine.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.english.rephrasing.lexicon import form as inflected_form
from augment_cli.syntax.tree import words
from data.builds.paraphraser import parses, wordnet
from data.builds.paraphraser.sentence import Sentence, sentences
from data.builds.paraphraser.wordnet import WordNet

SENTENCES = 30_000
CONTEXTS = 4  # of each candidate
REACH = 6  # tokens of context to each side
USUAL = 0.25  # share of a word's uses that a sense must have
OWN = 0.25  # and of its synonym's uses that this sense must have
FREQUENT, KNOWN = 10, 6  # occurrences of a word, of its synonym
CLOSE = 0.93  # mean cosine of the contexts before and after
TAGS = {
    "NOUN": {"NN", "NNS"},
    "VERB": {"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"},
    "ADJ": {"JJ"},
    "ADV": {"RB"},
}
# Words whose synonyms need another construction, or that a tagger takes for what they are not.
NEVER = words(
    "all as also away off too let mention refer eye optic inch go move travel get have do make take be so "
    "very more most much not then there here now just even still yet only well out up down back over "
    "about first last one two other many such same own new old good man men woman people person thing way "
    "time year day may can will being stuff little pretty aged know say see come give think want use call "
    "name state states number like long far near right left high low once later early late together both "
    "each hand head face body north south east west km meter metre center cent century god lord king "
    "queen lie bear"
)
Word = tuple[str, str]


def candidates(word: Word, known: WordNet, counts: Counter[Word]) -> list[str]:
    """Synonyms of a word's usual senses that are usual themselves, the most frequent first."""
    if word[0] in NEVER:
        return []
    lemma, pos = word
    found = set()
    for sense in known.senses.get(word, [])[:2]:
        if known.share(word, sense) < USUAL:
            continue
        for other in known.members[pos, sense]:
            # Spelling variants ("colour") and words made of one another change nothing worth learning.
            if not other.isalpha() or len(other) < 3 or other[:4] == lemma[:4] or other in NEVER:
                continue
            if counts[other, pos] >= KNOWN and known.share((other, pos), sense) >= OWN:
                found.add(other)
    return sorted(found, key=lambda other: (-counts[other, pos], other))[:3]


def form(lemma: str, tag: str, like: str) -> str | None:
    """A lemma inflected for a tag and cased like a word; None if there is no such form."""
    word = inflected_form(lemma, tag)
    return word if word is None or not like[:1].isupper() else word[:1].upper() + word[1:]


def collect(
    sentences: Iterable[Sentence],
) -> tuple[Counter[Word], dict[Word, list[tuple[str, str, str, str]]]]:
    """Occurrences of each open-class word, and of each the first contexts: before, tag, word, after."""
    counts: Counter[Word] = Counter()
    contexts: dict[Word, list[tuple[str, str, str, str]]] = defaultdict(list)
    for sentence in sentences:
        for index, token in enumerate(sentence.tokens):
            if token.tag not in TAGS.get(token.pos, ()) or not token.text.isalpha():
                continue
            word = (token.lemma.lower(), token.pos)
            counts[word] += 1
            if len(contexts[word]) < CONTEXTS:
                before = " ".join(t.text for t in sentence.tokens[max(0, index - REACH) : index])
                after = " ".join(t.text for t in sentence.tokens[index + 1 : index + 1 + REACH])
                contexts[word].append((before, token.tag, token.text, after))
    return counts, contexts


def choose(sentences: Iterable[Sentence], known: WordNet, encode: Any) -> list[tuple[str, str, str, float]]:
    """One synonym for each word that has one: lemma, part of speech, synonym, cosine."""
    counts, contexts = collect(sentences)
    trials: list[tuple[Word, str, str, str]] = []
    for word, count in counts.items():
        if count < FREQUENT:
            continue
        for other in candidates(word, known, counts):
            for before, tag, text, after in contexts[word]:
                new = form(other, tag, text)
                if new is not None:
                    trials.append((word, other, f"{before} {text} {after}", f"{before} {new} {after}"))
    first, second = encode([t[2] for t in trials]), encode([t[3] for t in trials])
    cosines: dict[tuple[Word, str], list[float]] = defaultdict(list)
    for (word, other, _, _), cosine in zip(trials, np.sum(first * second, axis=1), strict=True):
        cosines[word, other].append(float(cosine))
    best: dict[Word, tuple[float, str]] = {}
    for (word, other), values in cosines.items():
        best[word] = max(best.get(word, (CLOSE, "")), (float(np.mean(values)), other))
    return [(*word, other, round(value, 3)) for word, (value, other) in sorted(best.items()) if other]


def main() -> None:
    """Read the command line, choose, write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="work folder with parses/")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet 3.0's database files")
    args = parser.parse_args()
    from data.builds.paraphraser.minilm import encoder

    parsed = islice(chain.from_iterable(map(sentences, parses.read(args.work / "parses"))), SENTENCES)
    table = choose(parsed, wordnet.load(args.wordnet), encoder())
    text = "".join(f"{lemma}\t{pos}\t{other}\t{cosine}\n" for lemma, pos, other, cosine in table)
    (args.work / "synonyms.tsv").write_text(text, encoding="utf-8")
    print(f"{len(table)} words with a synonym")


if __name__ == "__main__":
    main()
