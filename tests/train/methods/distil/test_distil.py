"""Distillation: vocabularies, the regression against a dense solution, the command."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.stages import EmbedParameters
from train.methods.distil import Settings, vocabulary
from train.methods.distil.distil import (
    averages,
    distil,
    distil_to,
    make_tokenizer,
    projection,
    regress,
    teacher_vectors,
)


@pytest.fixture(scope="module")
def teacher(tiny_encoder):
    return load_encoder(tiny_encoder)


@pytest.fixture(scope="module")
def store(tiny_store):
    return Store.open(tiny_store)


@pytest.fixture(scope="module")
def own(teacher):
    return vocabulary.wordpiece(teacher.tokenizer.backend_tokenizer, vocabulary.own(teacher.tokenizer))


def test_known_texts_are_cut_as_the_teacher_cuts_them(teacher, own):
    for text in ("The river flows through the town.", "A man plays the guitar.", "rivers and towns"):
        expected = teacher.tokenizer.tokenize(text)
        assert own.backend_tokenizer.encode(text).tokens == [token for token in expected if token != "[UNK]"]


@given(st.text(max_size=60))
def test_no_text_has_an_unknown_token(own, text):
    assert own.unk_token_id not in own.backend_tokenizer.encode(text).ids


def test_a_cut_vocabulary_keeps_the_frequent_and_every_character(teacher, store):
    whole = make_tokenizer(teacher, store, Settings())
    small = make_tokenizer(teacher, store, Settings(size=250))
    assert 252 <= len(small) < len(whole)
    single = {token for token in whole.get_vocab() if len(token.removeprefix("##")) == 1}
    assert single <= set(small.get_vocab()) and "the" in small.get_vocab()
    assert small.unk_token_id not in small.backend_tokenizer.encode("the quizzical zebra").ids


def test_whole_words_are_added_the_most_frequent_first(teacher, store):
    with_words = make_tokenizer(teacher, store, Settings(words=3))
    plain = make_tokenizer(teacher, store, Settings())
    added = list(with_words.get_vocab().keys() - plain.get_vocab().keys())
    assert len(added) == 3
    for word in added:
        assert with_words.backend_tokenizer.encode(word).tokens == [word]
        assert len(teacher.tokenizer.tokenize(word)) > 1


def test_a_learned_vocabulary_is_the_corpus_s(teacher, store):
    learned = make_tokenizer(teacher, store, Settings(vocabulary="learned", size=200))
    assert 200 <= len(learned) < 260  # and the characters that were not learned within words
    assert not set(learned.get_vocab()) <= set(teacher.tokenizer.get_vocab())
    ids = vocabulary.teacher_ids(teacher.tokenizer, ["the", "##zzq"], [2], [3])
    assert ids[0] == [2, teacher.tokenizer.get_vocab()["the"], 3]
    assert ids[1] == [2, *teacher.tokenizer("zzq", add_special_tokens=False)["input_ids"], 3]


def test_regression_equals_the_dense_solution():
    draws = np.random.default_rng(0)
    size, width, ridge = 30, 4, 0.05
    ids = [list(draws.integers(0, size - 5, draws.integers(0, 9))) for _ in range(200)]  # some are empty
    targets, start = draws.normal(size=(200, width)), draws.normal(size=(size, width))
    weights = draws.uniform(0.2, 1, size)
    a = np.zeros((200, size))
    for row, tokens in enumerate(ids):
        for token in tokens:
            a[row, token] += 1 / len(tokens)
    np.testing.assert_allclose(averages(ids, size).toarray(), a, rtol=1e-5)
    scaled = a * weights
    first = scaled @ start
    scale = (first * targets).sum() / (first**2).sum()
    change = np.linalg.solve(scaled.T @ scaled + ridge * np.eye(size), scaled.T @ (targets - scale * first))
    expected = weights[:, None] * (scale * start + change)
    table, share = regress(averages(ids, size), targets, start, weights, ridge, iterations=60)
    np.testing.assert_allclose(table, expected, atol=2e-3)
    np.testing.assert_allclose(table[-5:], scale * (weights[:, None] * start)[-5:], rtol=1e-4)
    explained = 1 - ((a @ expected - targets) ** 2).sum() / (targets**2).sum()
    assert share == pytest.approx(explained, abs=1e-3)


def test_projection_keeps_the_directions_of_largest_variance():
    vectors = np.random.default_rng(1).normal(size=(300, 3)) * [1, 5, 2] + [9, 9, 9]
    found = projection(vectors, 2)(vectors)
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(0), [vectors[:, 1].std(), vectors[:, 2].std()], rtol=0.05)


def test_a_table_is_the_teacher_s_tokens_whitened_and_weighted(teacher, store):
    found, facts = distil(teacher, store, Settings(dimension=16))
    assert isinstance(found, StaticEncoder) and facts["tokens"] == len(found.tokenizer)
    tokens = found.tokenizer.convert_ids_to_tokens(list(range(len(found.tokenizer))))
    known = teacher.tokenizer.get_vocab()
    inner = [
        [known[token]]
        if token in known
        else teacher.tokenizer(token.removeprefix("##"), add_special_tokens=False)["input_ids"]
        for token in tokens
    ]
    vectors = teacher.encode_ids([[known["[CLS]"], *ids, known["[SEP]"]] for ids in inner])
    counted = np.zeros(len(tokens))
    for text in store.read("corpus")["text"].to_pylist():
        for number in found.tokenizer.backend_tokenizer.encode(text).ids:
            counted[number] += 1
    share = counted / counted.sum()
    table = transforms.fit(vectors, 16, share)(vectors) * (1e-3 / (1e-3 + share))[:, None]
    table[:2] = 0  # padding and unknown
    got = found.model.embedding.weight.detach().numpy()
    # Directions may have the other sign.
    np.testing.assert_allclose(got @ got.T, table @ table.T, atol=2e-2)


def test_kept_vectors_are_used_and_others_refused(teacher, tiny_encoder, store_copy):
    settings = Settings(dimension=16, regress=100)
    before = teacher_vectors(teacher, Store.open(store_copy), settings, lambda line: None)
    with Session(store_copy, Engine(1)) as session:
        session.embed(parameters=EmbedParameters(model=str(tiny_encoder), precision="fp32"))
    said = []
    after = teacher_vectors(teacher, Store.open(store_copy), settings, said.append)
    assert "read from vectors" in said[0] and before[0] == after[0] and len(before[0]) == 100
    np.testing.assert_allclose(before[1], after[1], atol=2e-3)
    _, facts = distil(teacher, Store.open(store_copy), settings)
    assert facts["sentences"] == 100 and 0.3 < facts["explained"] <= 1
    teacher_of_others = load_encoder(tiny_encoder)
    teacher_of_others.digest = "another"
    with pytest.raises(UsageError, match="another encoder"):
        teacher_vectors(teacher_of_others, Store.open(store_copy), settings, lambda line: None)


def test_the_command_writes_a_folder_with_its_card_and_so_does_a_call(
    tiny_store, tiny_encoder, tmp_path, ended
):
    command = ["distil", "--store", tiny_store, "--teacher", tiny_encoder, "--precision", "fp32"]
    command += ["--dimension", "8", "--out"]
    for more in (["half", "--half"], ["whole"]):
        assert ended(*command, tmp_path / more[0], *more[1:])[0] == 0
    card = (tmp_path / "half/README.md").read_text(encoding="utf-8")
    assert "--dimension 8" in card and "| tokens |" in card
    assert json.loads((tmp_path / "half/config.json").read_text())["embedding_dtype"] == "float16"
    whole = load_encoder(tmp_path / "whole")
    texts = ["the river", "a", ""]
    np.testing.assert_allclose(np.linalg.norm(whole.encode(texts), axis=1), [1, 1, 0], atol=1e-6)
    for name in ("half", "whole"):  # no number is lost in the library either
        vectors = SentenceTransformer(str(tmp_path / name), device="cpu").encode(texts)
        np.testing.assert_allclose(vectors, load_encoder(tmp_path / name).encode(texts), atol=1e-3)
    settings = Settings(dimension=8)
    facts = distil_to(tmp_path / "called", tiny_store, str(tiny_encoder), settings, precision="fp32")
    assert load_encoder(tmp_path / "called").digest == whole.digest
    assert facts["tokens"] == len(whole.tokenizer)
    with pytest.raises(UsageError, match="exists"):
        distil_to(tmp_path / "called", tiny_store, str(tiny_encoder))
    _, said = ended("nearest", tmp_path / "half", "--store", tiny_store)
    assert said.count("nearest, cosine") == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"vocabulary": "new"}, "--vocabulary new: choose one of own, learned"),
        ({"words": -1}, "--words -1: must be at least 0"),
        ({"ridge": 0.0}, "--ridge 0.0: must be above 0"),
    ],
)
def test_settings_are_checked(values, message):
    with pytest.raises(UsageError, match=message):
        Settings(**values)


def test_what_cannot_be_distilled_is_said(teacher, store):
    static, _ = distil(teacher, store, Settings(dimension=8, postprocess="pca"))
    with pytest.raises(UsageError, match="is a static encoder; name a transformer"):
        distil(static, store, Settings())
    with pytest.raises(UsageError, match="the teacher's vectors have 32"):
        distil(teacher, store, Settings(dimension=64))
    with pytest.raises(UsageError, match="write --dimension 0"):
        distil(teacher, store, Settings(dimension=8, postprocess="none"))
