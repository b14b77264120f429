"""Shipping: what is dropped is not missed."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

from data.builds.pipeline.shipping import ship
from data.builds.pipeline.treebank import Sentence, make_doc

WORDS = {"dogs": "dog", "cats": "cat", "mice": "mouse", "ponies": "pony", "cows": "cow"}
VERBS = {"ran": "run", "sleep": "sleep", "went": "go", "flies": "fly"}


def treebank() -> list[Sentence]:
    """Every subject with every verb and a stop."""
    return [
        Sentence(
            text=f"{noun} {verb}.",
            words=[noun, verb, "."],
            spaces=[True, False, False],
            lemmas=[lemma, base, "."],
            pos=["NOUN", "VERB", "PUNCT"],
            tags=["NNS", "VB", "."],
            morphs=["Number=Plur", "", ""],
            heads=[1, 1, 1],
            deps=["nsubj", "ROOT", "punct"],
        )
        for noun, lemma in WORDS.items()
        for verb, base in VERBS.items()
    ]


@pytest.fixture(scope="module")
def trained() -> Language:
    """A tiny pipeline that learned the tiny treebank."""
    fix_random_seed(1)
    random.seed(1)
    nlp = spacy.blank("en")
    for name in ("tok2vec", "tagger", "morphologizer"):
        nlp.add_pipe(name)
    nlp.add_pipe("trainable_lemmatizer", config={"min_tree_freq": 1})
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = [Example(nlp.make_doc(s.text), make_doc(nlp.vocab, [s])) for s in treebank()]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(15):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    # Met in training but no label's tree, as in a silver file: a lemma that only updates see.
    odd = Sentence(**{**vars(treebank()[0]), "lemmas": ["zebraic", "quaggaish", "."]})
    nlp.update([Example(nlp.make_doc(odd.text), make_doc(nlp.vocab, [odd]))], sgd=None)
    return nlp


def annotation(doc: Doc) -> list[tuple[object, ...]]:
    """Everything the pipeline says."""
    return [(t.text, t.tag_, t.pos_, str(t.morph), t.lemma_, t.dep_, t.head.i, t.is_sent_start) for t in doc]


@pytest.mark.slow
def test_shipped_pipeline_says_the_same_and_forgets_the_words(trained: Language, tmp_path: Path) -> None:
    texts = [sentence.text for sentence in treebank()] + ["Oxen sang loudly."]
    before = [annotation(doc) for doc in trained.pipe(texts)]
    trained.to_disk(tmp_path / "whole")
    ship(trained, tmp_path / "shipped", {"name": "tiny", "license": "CC BY-SA 4.0"})
    shipped = spacy.load(tmp_path / "shipped")
    assert [annotation(doc) for doc in shipped.pipe(texts)] == before
    assert "zebraic" in (tmp_path / "whole" / "vocab" / "strings.json").read_text()
    for name in ("vocab/strings.json", "trainable_lemmatizer/trees"):
        assert b"zebraic" not in (tmp_path / "shipped" / name).read_bytes()
    assert (tmp_path / "shipped" / "LICENSE").exists()
    assert shipped.meta["name"] == "tiny"
