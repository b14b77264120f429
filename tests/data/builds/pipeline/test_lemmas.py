"""Lemmas of silver trees: the lexicon, the base forms, and silence where neither knows."""

import pytest
import spacy
from spacy.tokens import Doc

from data.builds.pipeline.lemmas import PRODUCTIVE, Lexicon, correct
from data.builds.pipeline.treebank import Sentence


def words(*entries: str) -> Sentence:
    """A sentence of entries "word/TAG/lemma"."""
    parts = [entry.split("/") for entry in entries]
    columns = list(zip(*parts, strict=True))
    return Sentence(text="", words=list(columns[0]), tags=list(columns[1]), lemmas=list(columns[2]))


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Regular past tenses by both scripts, an irregular one, and a word of two lemmas."""
    stems = ["walk", "jump", "call", "help", "wait", "turn"]
    drop_d = ["bake", "vote", "care", "move", "fire", "line"]
    assert len(stems) == len(drop_d) == PRODUCTIVE
    gold = [words(*(f"{s}ed/VBN/{s}" for s in stems), *(f"{s}d/VBN/{s}" for s in drop_d))]
    gold += [words("sought/VBD/seek", "'s/VBZ/be", "'s/VBZ/have", "Dogs/NNS/dog", "odd/JJ/_")]
    lexicon = Lexicon(gold)
    silver = ["establish/VB", "establish/VB", "base/VB", "bas/FW", "sing/VB"]
    vocab = spacy.blank("en").vocab
    forms, tags = zip(*(entry.split("/") for entry in silver), strict=True)
    lexicon.count([Doc(vocab, words=list(forms), tags=list(tags))])
    return lexicon


@pytest.mark.parametrize(
    ("word", "tag", "guess", "lemma"),
    [
        ("Established", "VBN", "establishe", "establish"),
        ("based", "VBN", "bas", "base"),
        ("walked", "VBN", "walke", "walk"),
        ("sought", "VBN", "sough", "seek"),  # known as the other past form
        ("quizzed", "VBN", "quizz", ""),  # no base form of it was met
        ("dogs", "NNS", "dogs", "dog"),
        ("'s", "VBZ", "have", "have"),  # two lemmas: the teacher read the sentence
        ("Houses", "NNP", "Houses", "Houses"),
        ("House", "NN", "House", "house"),
        ("Dutch", "JJ", "Dutch", "Dutch"),
        ("NATO", "NN", "NATO", "NATO"),
        ("odd", "JJ", "odd", "odd"),  # "_" in the gold trees is no lemma
    ],
)
def test_lemma(lexicon: Lexicon, word: str, tag: str, guess: str, lemma: str) -> None:
    assert lexicon.lemma(word, tag, guess) == lemma


def test_correct_sets_all_lemmas(lexicon: Lexicon) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["dogs", "based"], tags=["NNS", "VBN"], lemmas=["x", "bas"])
    assert [token.lemma_ for token in correct(doc, lexicon)] == ["dog", "base"]
