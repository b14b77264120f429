"""Random WordNet synonym replacement, which a paraphraser has to beat (synonym replacement of EDA,
Wei & Zou 2019): a word becomes any other member of any of its synsets."""

from __future__ import annotations

import random
import re

from augment_cli.syntax.tree import words
from data.builds.paraphraser.wordnet import WordNet

STOP = words(
    "a an the and or but if of at by for with about to from in on is am are was were be been being have "
    "has had do does did i you he she it we they me him her us them my your his its our their this that "
    "these those not no so as than then too very can will just what which who how why when where there"
)


def synonyms(word: str, known: WordNet) -> list[str]:
    """Every other member of every synset of a word, in alphabetical order."""
    found: set[str] = set()
    for pos in ("NOUN", "VERB", "ADJ", "ADV"):
        for sense in known.senses.get((word, pos), []):
            found.update(known.members[pos, sense])
    return sorted(other.replace("_", " ") for other in found - {word})


def replace_words(text: str, chance: float, known: WordNet, draw: random.Random) -> str:
    """Replace each word that has synonyms and is no stop word with a chance."""

    def replaced(match: re.Match[str]) -> str:
        word = match.group()
        coin, choice = draw.random(), draw.random()
        if coin >= chance or word.lower() in STOP or not word.islower():
            return word
        others = synonyms(word, known)
        return others[int(choice * len(others))] if others else word

    return re.sub(r"[A-Za-z]+", replaced, text)
