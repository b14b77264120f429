"""Shipping: what is dropped is not missed, and the card tells what was measured."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

from data.builds.pipeline.card import write_card
from data.builds.pipeline.evaluation import score, weakest_labels
from data.builds.pipeline.shipping import folder_size, ship
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
    assert folder_size(tmp_path / "shipped") < folder_size(tmp_path / "whole") + 30_000


@pytest.mark.slow
def test_scores_of_a_learned_treebank(trained: Language) -> None:
    for gold_words in (True, False):
        scores = score(trained, treebank(), gold_words=gold_words)
        assert scores["UPOS"] == scores["UAS"] == scores["LAS"] == 100
        assert scores["lemma"] > 80
    wrong = [Sentence(**{**vars(s), "deps": ["obj", "ROOT", "punct"]}) for s in treebank()]
    scores = score(trained, wrong, gold_words=True)
    assert scores["UAS"] == 100 and scores["LAS"] == 50
    assert weakest_labels(trained, wrong, least=1, count=1)[0] in [("obj", 0), ("nsubj", 0)]


def test_card_holds_what_was_measured(tmp_path: Path) -> None:
    values = {"UPOS": 95.25, "XPOS": 94, "morph": 93, "lemma": 96, "UAS": 86.75, "LAS": 82.5, "tokens": 99}
    results = {
        "scores": {"EWT dev": {"gold words": values, "raw text": {**values, "LAS": 81.125}}},
        "teacher": {"EWT dev": {**values, "LAS": 87.5}},
        "speed": {"Wikipedia": 12345.6},
        "weakest": [("parataxis", 41.2)],
        "silver": 1234,
        "size": 11_450_000,
    }
    write_card(tmp_path, results, "")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| LAS | 83.0 | 84.0 | 82.50 | 81.12 |" in card
    assert "12,300 on Wikipedia" in card and "1,234" in card and "`parataxis` 41" in card
    assert "{" not in card
