"""Docs made together are those that `nlp.pipe` makes, what is kept of them, and odd texts."""

from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import spacy
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from spacy.tokens import Doc

from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.models import shipped_pipeline
from augment_cli.parsing import docs
from augment_cli.parsing.docs import docs_of
from augment_cli.parsing.pipelines import find_pipeline, load_pipeline
from augment_cli.parsing.stage import count_clauses, parse_texts
from augment_cli.session import Session
from augment_cli.store.parquet import PARSES, read_parquet, write_parquet
from augment_cli.store.store import Store
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints
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


TEXTS_OF_TABLES = [
    "The heron waits. Boats don't stop here.",
    "  Two  spaces,\ta tab\r\nand İstanbul 🙂🙂 e\u0301 日本語 ",
    "",
    "waits",
    "_ _",
]


@pytest.fixture(scope="module")
def tables_nlp(pipeline):
    return load_pipeline(find_pipeline(pipeline))


def expected_of(doc):
    """What the table should hold of a Doc, by spaCy's documented token attributes."""
    return {
        "starts": [token.idx for token in doc],
        "ends": [token.idx + len(token.text) for token in doc],
        "whitespace": [bool(token.whitespace_) for token in doc],
        "lemmas": [token.lemma_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "tags": [token.tag_ for token in doc],
        "morphs": [str(token.morph) for token in doc],
        "deps": [token.dep_ for token in doc],
        "heads": [token.head.i for token in doc],
        "sentence_starts": [token.is_sent_start for token in doc],
    }


def test_every_attribute_is_the_docs_also_after_parquet(tables_nlp, tmp_path):
    table = parse_texts(tables_nlp, pa.array(TEXTS_OF_TABLES), np.arange(5) + 70)
    write_parquet(tmp_path / "part.parquet", PARSES, [table])
    rows = read_parquet(tmp_path / "part.parquet").to_pylist()
    for number, (row, doc) in enumerate(zip(rows, tables_nlp.pipe(TEXTS_OF_TABLES), strict=True)):
        assert row == {"row_id": 70 + number} | expected_of(doc)
    assert rows[0]["lemmas"][:3] == ["the", "heron", "wait"]
    assert sum(rows[0]["sentence_starts"]) >= 1 and len(set(rows[0]["heads"])) > 1


def assert_sound(texts, table):
    """Tokens and the white space after them give the text again; heads stay in their row."""
    assert table.schema.equals(PARSES)
    for text, row in zip(texts, table.to_pylist(), strict=True):
        tokens = [text[start:end] for start, end in zip(row["starts"], row["ends"], strict=True)]
        spaces = [" " if space else "" for space in row["whitespace"]]
        assert "".join(token + space for token, space in zip(tokens, spaces, strict=True)) == text
        assert all(0 <= head < len(tokens) for head in row["heads"])
        assert all(tokens) and row["sentence_starts"][:1] in ([], [True])
        for position in range(len(tokens)):  # following heads ends at a root
            for _ in tokens:
                position = row["heads"][position]
            assert row["heads"][position] == position


ODD_CHARACTERS = st.sampled_from("a bB.,'\u0301\u200d🙂日İ\t\r\n\x00\x07\ufeff\u2028\u00a0")
ODD_TEXTS = ["", " ", "\r\n", "don't", "x" * 3_000, "word " * 400, ". " * 300, "👩‍👩‍👧 ok"]
ODD_OF_TABLES = st.lists(
    st.text(ODD_CHARACTERS | st.characters(exclude_categories=["Cs"])) | st.sampled_from(ODD_TEXTS),
    max_size=6,
)


@examples(40, HealthCheck.function_scoped_fixture)
@given(texts=ODD_OF_TABLES)
def test_odd_input_never_raises_and_gives_the_text_again(tables_nlp, texts):
    table = parse_texts(tables_nlp, pa.array(texts, pa.string()))
    assert_sound(texts, table)
    rows = ParseRows.from_table(table, CodePoints.of(pa.array(texts, pa.string())))
    forms = [rows.forms.values[code] for code in rows.forms.codes]
    assert forms == [
        text[start:end]
        for text, row in zip(texts, table.to_pylist(), strict=True)
        for start, end in zip(row["starts"], row["ends"], strict=True)
    ]


def test_a_text_beyond_spacys_own_limit(tables_nlp):
    text = "The heron waits." + "\n" * 1_000_000
    assert_sound([text], parse_texts(tables_nlp, pa.array([text])))


def test_new_words_leave_nothing_behind(tables_nlp):
    before = len(tables_nlp.vocab.strings)
    parse_texts(tables_nlp, pa.array([f"unheard{n}of" for n in range(300)]))
    assert len(tables_nlp.vocab.strings) == before


def test_a_tokenizer_that_alters_the_text_is_refused():
    tables_nlp = spacy.blank("en")
    tables_nlp.tokenizer = lambda text: Doc(
        tables_nlp.vocab, words=text.replace("colour", "color").split(" ")
    )
    with pytest.raises(UsageError, match=r"do not give the text again \(from 'ur of it'"):
        parse_texts(tables_nlp, pa.array(["the colour of it"]))


def test_torch_has_its_threads_back_afterwards(tables_nlp):
    import torch

    before = torch.get_num_threads()
    parse_texts(tables_nlp, pa.array(["The heron waits."]))
    assert torch.get_num_threads() == before
