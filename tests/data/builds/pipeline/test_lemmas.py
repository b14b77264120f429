"""Lemmas: scripts, the lexicon of silver trees, and the lemmatizer's last layer learned anew."""

import random
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed

from data.builds.pipeline.lemma_head import relearn
from data.builds.pipeline.lemma_scripts import apply_script, lemma_script
from data.builds.pipeline.lemmas import PRODUCTIVE, Lexicon, correct
from data.builds.pipeline.treebank import Sentence, make_doc


def words(*entries: str) -> Sentence:
    """A sentence of entries "word/TAG/lemma"."""
    parts = [entry.split("/") for entry in entries]
    columns = list(zip(*parts, strict=True))
    return Sentence(text="", words=list(columns[0]), tags=list(columns[1]), lemmas=list(columns[2]))


@pytest.fixture(scope="module")
def lexicon():
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
def test_lemma(lexicon, word, tag, guess, lemma):
    assert lexicon.lemma(word, tag, guess) == lemma


def test_correct_sets_all_lemmas(lexicon):
    doc = Doc(spacy.blank("en").vocab, words=["dogs", "based"], tags=["NNS", "VBN"], lemmas=["x", "bas"])
    assert [token.lemma_ for token in correct(doc, lexicon)] == ["dog", "base"]


WORDS = {"dogs": "dog", "cats": "cat", "ran": "run", "flies": "fly", "here": "here"}
NEW = {"Written": "write", "Known": "know"}


def sentence(words: dict[str, str]) -> Sentence:
    """A sentence of those words with those lemmas."""
    size = len(words)
    return Sentence(
        text=" ".join(words),
        words=list(words),
        spaces=[True] * (size - 1) + [False],
        lemmas=list(words.values()),
        pos=["NOUN"] * size,
        tags=["NN"] * size,
        morphs=[""] * size,
        heads=[0] * size,
        deps=["ROOT"] + ["dep"] * (size - 1),
    )


@pytest.fixture
def nlp():
    """A lemmatizer that has never seen the new words."""
    fix_random_seed(1)
    random.seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96},
    }
    nlp.add_pipe("trainable_lemmatizer", config={"min_tree_freq": 1, "model": model})
    gold = sentence(WORDS)
    examples = [Example(nlp.make_doc(gold.text), make_doc(nlp.vocab, [gold]))]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    return nlp


def test_new_trees_are_learned(nlp, tmp_path):
    everything = WORDS | NEW
    encoder: Any = nlp.get_pipe("tok2vec")
    shared = encoder.model.to_bytes()
    assert [token.lemma_ for token in nlp(" ".join(NEW))] != list(NEW.values())
    docs = [make_doc(nlp.vocab, [sentence(everything)]) for _ in range(400)]
    docs.append(make_doc(nlp.vocab, [sentence({"mice": "", "dogs": "dog"})]))  # "": nobody knows
    training = tmp_path / "training"
    training.mkdir()
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    DocBin(attrs=attributes, docs=docs).to_disk(training / "gold.spacy")
    relearn(nlp, training, share=1, seed=1)
    nlp.to_disk(tmp_path / "saved")
    for pipeline in (nlp, spacy.load(tmp_path / "saved")):
        lemmas = {token.text: token.lemma_ for token in pipeline(" ".join(everything))}
        assert lemmas == everything
    assert encoder.model.to_bytes() == shared


@given(st.text("abcAB'é", min_size=1, max_size=8), st.text("abcAB'é", min_size=1, max_size=8))
def test_script_makes_the_lemma(word, lemma):
    assert apply_script(lemma_script(word, lemma), word) == lemma


def test_script_carries_over():
    assert apply_script(lemma_script("studies", "study"), "ponies") == "pony"
    assert apply_script(lemma_script("Walked", "walk"), "Talked") == "talk"
    assert apply_script(lemma_script("Londons", "London"), "Parises") == "Parise"


def test_script_that_does_not_fit_keeps_the_word():
    assert apply_script("l|5|be", "is") == "is"
    assert apply_script("l|2|", "is") == "is"
