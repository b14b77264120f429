"""Docs made together are those that `nlp.pipe` makes; unknown components run as they are; clauses."""

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from spacy.tokens import Doc

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.models import shipped_pipeline
from augment_cli.parsing import docs
from augment_cli.parsing.clauses import count_clauses
from augment_cli.parsing.docs import docs_of
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.properties import examples

ANSWERS = ["ORTH", "IDX", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"]
ODD = [
    "",
    "  Two  spaces,\ta tab\r\nand İstanbul 🙂🙂 e\u0301 日本語 ",
    "Don't they can't?",
    "x" * 300,
    ". " * 40,
]
SAMPLE = (files("augment_cli") / "sample" / "sentences.txt").read_text("utf-8").splitlines()
TEXTS = [*ODD, *SAMPLE[:50], *ODD]


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(shipped_pipeline())


@pytest.fixture(scope="module")
def expected():
    """Of spaCy alone, in a pipeline that nothing here has touched."""
    return list(spacy.load(shipped_pipeline()).pipe(TEXTS))


def answers(made):
    return [doc.to_array(ANSWERS).tolist() for doc in made]


def test_all_answers_are_those_of_spacy(nlp, expected):
    made = docs_of(nlp, TEXTS)
    assert answers(made) == answers(expected)
    assert [doc.text for doc in made] == TEXTS
    for doc, other in zip(made, expected, strict=True):
        np.testing.assert_allclose(doc.tensor, other.tensor, rtol=0, atol=1e-5)


def test_every_component_of_the_shipped_pipeline_but_the_taggers_is_known(nlp):
    made = [nlp.make_doc("The heron waits.")]
    known = [name for name, component in nlp.pipeline if docs._annotator(nlp, name, component, made)]
    assert known == ["tok2vec", "trainable_lemmatizer", "parser"]


def test_the_size_of_what_is_scored_together_changes_nothing(nlp, expected, monkeypatch):
    monkeypatch.setattr(docs, "_TOGETHER", 7)
    monkeypatch.setattr(docs, "_PARSED_TOGETHER", 30)
    assert answers(docs_of(nlp, TEXTS)) == answers(expected)


def test_equal_texts_are_parsed_once(nlp, monkeypatch):
    seen = []
    make_doc = nlp.make_doc

    def watched(text):
        seen.append(text)
        return make_doc(text)

    monkeypatch.setattr(nlp, "make_doc", watched)
    made = docs_of(nlp, ["One boat.", "Two boats.", "One boat."])
    assert seen == ["One boat.", "Two boats."]
    assert [doc.text for doc in made] == ["One boat.", "Two boats.", "One boat."]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_texts_without_a_token(nlp, texts):
    assert [len(doc) for doc in docs_of(nlp, texts)] == [0] * len(texts)


@pytest.mark.parametrize("top_k", [1, 3, 30])  # spaCy has a function for each
def test_lemmas_of_trees_that_do_not_fit(nlp, monkeypatch, top_k):
    """Random scores: most of the best trees fit no word, so that the next ones are tried, or none fits."""
    lemmatizer = nlp.get_pipe("trainable_lemmatizer")
    made = [[nlp.make_doc(text) for text in TEXTS] for _ in range(2)]
    generator = np.random.default_rng(7)
    shape = len(lemmatizer.labels)
    scores = {id(doc): generator.random((len(doc), shape), np.float32) for docs_ in made[:1] for doc in docs_}
    for doc, other in zip(*made, strict=True):
        scores[id(other)] = scores[id(doc)]

    class Scorer:
        def predict(self, batch):
            return [scores[id(doc)].copy() for doc in batch]

    monkeypatch.setattr(lemmatizer, "model", Scorer())
    monkeypatch.setattr(lemmatizer, "top_k", top_k)
    docs._lemmatize(lemmatizer, made[0])
    guesses = {1: lemmatizer._scores2guesses_top_k_equals_1, 3: lemmatizer._scores2guesses_top_k_greater_1}
    guess = guesses.get(top_k, lemmatizer._scores2guesses_top_k_guardrail)
    lemmatizer.set_annotations(made[1], guess(made[1], lemmatizer.model.predict(made[1])))
    lemmas = [[token.lemma_ for token in doc] for doc in made[0]]
    assert lemmas == [[token.lemma_ for token in doc] for doc in made[1]]
    assert 0.1 < np.mean([token.lemma_ == token.text for doc in made[0] for token in doc]) < 1


def test_lemmas_that_are_there_stay(nlp):
    """As `overwrite = false` has it; spaCy's own code decides, token by token."""
    doc = Doc(nlp.vocab, words=["The", "herons", "waited"], lemmas=["", "given", ""])
    lemmatizer = nlp.get_pipe("trainable_lemmatizer")
    assert docs._annotator(nlp, "trainable_lemmatizer", lemmatizer, [doc]) is None
    doc = docs._run(nlp, "trainable_lemmatizer", lemmatizer, [nlp.get_pipe("tok2vec")(doc)])[0]
    assert [token.lemma_ for token in doc] == ["the", "given", "wait"]


def test_a_tok2vec_that_sees_more_than_the_word_runs_as_it_is():
    """Here whether a space follows the token: equal words have different vectors."""
    nlp = spacy.blank("en")
    embed = {"width": 16, "attrs": ["ORTH", "SPACY"], "rows": [50, 50], "include_static_vectors": False}
    encode = {"width": 16, "window_size": 1, "maxout_pieces": 2, "depth": 2}
    model = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {"@architectures": "spacy.MultiHashEmbed.v2", **embed},
        "encode": {"@architectures": "spacy.MaxoutWindowEncoder.v2", **encode},
    }
    nlp.add_pipe("tok2vec", config={"model": model})
    nlp.initialize()
    assert docs._annotator(nlp, "tok2vec", nlp.get_pipe("tok2vec"), []) is None
    made, other = docs_of(nlp, ["waits waits"])[0], nlp("waits waits")
    np.testing.assert_allclose(made.tensor, other.tensor, atol=1e-5)


@Language.component("without_pipe")
def without_pipe(doc: Doc) -> Doc:
    doc.user_data["seen"] = True
    return doc


def test_a_component_that_is_a_function():
    nlp = spacy.blank("en")
    nlp.add_pipe("without_pipe")
    assert all(doc.user_data["seen"] for doc in docs_of(nlp, ["one", "two"]))


@examples(10)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    window=st.integers(1, 2),
    pieces=st.integers(1, 3),
    depth=st.integers(2, 3),
)
def test_windows_are_encoded_as_thinc_encodes_them(lengths, window, pieces, depth):
    model: Any = MaxoutWindowEncoder(width=8, window_size=window, maxout_pieces=pieces, depth=depth)
    generator = np.random.default_rng(sum(lengths))
    model.initialize([np.zeros((1, 8), np.float32)])
    for node in model.walk():
        for name in node.param_names:  # biases and scales are 0 and 1 at first
            value = node.get_param(name)
            node.set_param(name, generator.standard_normal(value.shape).astype(np.float32))
    texts = [generator.standard_normal((length, 8)).astype(np.float32) for length in lengths]
    for own, thincs in zip(docs.encode_windows(model, texts), model.predict(texts), strict=True):
        np.testing.assert_allclose(own, thincs, rtol=1e-4, atol=1e-4)


def test_a_single_layer_is_left_to_thinc():
    config = {"@architectures": "spacy.MaxoutWindowEncoder.v2", "depth": 2}
    assert docs.is_window_encoder(config)
    assert not docs.is_window_encoder(config | {"depth": 1})
    assert not docs.is_window_encoder(config | {"@architectures": "spacy.MishWindowEncoder.v2"})


def test_clauses_with_a_subject_are_counted_where_the_store_is_parsed(tmp_path):
    (tmp_path / "in.txt").write_text("The heron waits.\n", "utf-8")
    texts = ["The heron waits.", "The heron waits while the otter swims.", "Thus!", ""]
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.txt"], IngestOptions())
        assert count_clauses(session.store, texts) is None
        session.parse()
    assert count_clauses(Store.open(tmp_path / "store"), texts).tolist() == [1, 2, 0, 0]
