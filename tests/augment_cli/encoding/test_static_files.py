"""Static encoders, token weights and word tables: as libraries read them, and against slow references."""

import dataclasses
import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
from model2vec import StaticModel
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

from augment_cli.encoding import transforms
from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.layout import is_static
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import canonical, needs_all_layers, pool, weights_in
from augment_cli.encoding.static import (
    POOLINGS,
    StaticEncoder,
    StaticTable,
    load_static,
    word_table,
    write_folder,
)
from augment_cli.encoding.words_apart import count_store, count_tokens
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from train.methods.distil import vocabulary
from train.outputs.export import export

LINES = [
    f"{word} {number}.0 {number * number} 1" for number, word in enumerate(["the", "dog", "plays", "New"])
]


def test_a_sentence_is_the_mean_of_its_known_words(tmp_path):
    path = tmp_path / "words.vec"
    path.write_text("4 3\n" + "\n".join([*LINES, "New York 1 2 3", "the 9 9 9"]) + "\n")
    encoder = load_static(path)
    vectors = encoder.encode(["The dog zzz", "", "unknown"])
    np.testing.assert_array_equal(vectors, [[0.5, 0.5, 1], [0] * 3, [0] * 3])
    assert "New York" in encoder.tokenizer.rows


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "words.vec"
    path.write_text("the 1 2 3\ndog 1 2\n")
    with pytest.raises(BadInputError, match="line 2: not a word and its numbers"):
        load_static(path)
    path.write_text("")
    with pytest.raises(BadInputError, match="holds no word vectors"):
        load_static(path)


TEXTS = ["A man plays a guitar.", "", "Zürich, naïve ☃ 京 \U0001f600", "x" * 150, "river " * 700, "the the"]


@pytest.fixture(scope="module")
def static(plain_model):
    tokenizer = load_encoder(plain_model).tokenizer
    mine = vocabulary.wordpiece(tokenizer.backend_tokenizer, vocabulary.own(tokenizer))
    generator = torch.Generator().manual_seed(3)
    table = torch.randn(len(mine), 24, generator=generator)
    weights = torch.rand(len(mine), generator=generator)
    return StaticEncoder(StaticTable(table), mine, "sif:mean", digest="d", weights=weights)


@pytest.fixture(scope="module")
def folder(static, tmp_path_factory):
    path = tmp_path_factory.mktemp("static") / "model"
    write_folder(static, path)
    return path


def test_a_text_is_the_mean_of_its_weighted_tokens(static):
    table, weights = static.model.embedding.weight.detach().numpy(), static.weights.numpy()
    for text, vector in zip(TEXTS, static.encode(TEXTS), strict=True):
        ids = static.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
        rows = [weights[i].astype(np.float64) * table[i].astype(np.float64) for i in ids]
        np.testing.assert_allclose(vector, np.mean(rows, axis=0) if rows else np.zeros(24), atol=1e-4)


def test_three_libraries_read_one_folder_alike(static, folder, sentences):
    texts = [*TEXTS, *sentences]
    expected = static.encode(texts)
    ours = load_encoder(folder)
    assert isinstance(ours, StaticEncoder) and ours.weights is None and ours.max_length is None
    np.testing.assert_allclose(ours.encode(texts), expected, atol=1e-6)
    library = SentenceTransformer(str(folder), device="cpu")
    # Some 700 equal numbers are summed in another order.
    short = [text for text in texts if len(text) < 1000]
    model = StaticModel.from_pretrained(folder)
    for encoder in (library, model):
        found = encoder.encode(short, show_progress_bar=False)
        np.testing.assert_allclose(found, ours.encode(short), rtol=0, atol=1e-6)
    # Nothing is cut: neither library stops at 512 tokens.
    long = "river " * 700 + "guitar"
    np.testing.assert_allclose(model.encode([long]), ours.encode([long]), atol=1e-4)


def test_vectors_of_length_one_stay_so_in_three_libraries(static, sentences, tmp_path):
    write_folder(dataclasses.replace(static, modules=[to_length_one]), tmp_path)
    expected = static.encode(sentences)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for encoder in (
        load_encoder(tmp_path),
        SentenceTransformer(str(tmp_path), device="cpu"),
        StaticModel.from_pretrained(tmp_path),
    ):
        np.testing.assert_allclose(encoder.encode(sentences), expected, rtol=0, atol=1e-6)


def test_folders_of_both_libraries_are_read_as_they_read_them(static, sentences, tmp_path):
    tokenizer = static.tokenizer.backend_tokenizer
    table = static.model.embedding.weight.detach()
    theirs = SentenceTransformer(modules=[StaticEmbedding(tokenizer, table), Normalize()], device="cpu")
    theirs.save(str(tmp_path / "library"))
    expected = theirs.encode(sentences, show_progress_bar=False)
    assert is_static(tmp_path / "library")
    np.testing.assert_allclose(load_encoder(tmp_path / "library").encode(sentences), expected, atol=1e-6)

    mapping = np.arange(len(table)) // 2  # two tokens share a row
    model = StaticModel(
        table.numpy()[: mapping.max() + 1],
        tokenizer,
        weights=static.weights.numpy(),
        token_mapping=mapping,
        normalize=True,
        config={"model_type": "model2vec"},
    )
    model.save_pretrained(tmp_path / "other")
    expected = model.encode(sentences)
    for listed in (True, False):  # the older of its folders have no modules.json
        if not listed:
            (tmp_path / "other/modules.json").unlink()
        np.testing.assert_allclose(load_encoder(tmp_path / "other").encode(sentences), expected, atol=1e-6)


@pytest.mark.parametrize(
    "smaller", [{"quantize_to": "int8"}, {"vocabulary_quantization": 20}, {"dimensionality": 12}]
)
def test_what_model2vec_makes_smaller_is_read_alike(folder, sentences, tmp_path, smaller):
    model = StaticModel.from_pretrained(folder, **smaller)
    model.save_pretrained(tmp_path / "smaller")
    sizes = [(place / "model.safetensors").stat().st_size for place in (tmp_path / "smaller", folder)]
    assert sizes[0] < 0.6 * sizes[1]
    expected = model.encode(sentences)
    found = load_encoder(tmp_path / "smaller").encode(sentences)
    scale = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-5 * scale.max())


def test_halves_are_stored_and_computed_in_single_precision(static, sentences, tmp_path):
    write_folder(static, tmp_path / "half", torch.float16)
    assert load_file(tmp_path / "half/model.safetensors")["embeddings"].dtype == np.float16
    found = load_encoder(tmp_path / "half")
    assert found.model.dtype == torch.float32
    np.testing.assert_allclose(found.encode(sentences), static.encode(sentences), atol=2e-3)


def test_what_cannot_be_read_is_said(folder, static, tmp_path):
    with pytest.raises(UsageError, match="a static encoder has mean alone"):
        load_encoder(folder, pooling="cls")
    path = tmp_path / "model"

    def refused(error, words):
        with pytest.raises(error, match=words):
            load_encoder(path)

    write_folder(static, path)
    (path / "tokenizer.json").unlink()
    refused(MissingError, "is missing")
    write_folder(static, path)
    for name, words in (
        ("embeddings", "ids up to 93, and the weights have 3 tokens"),
        ("other", "holds no table"),
    ):
        save_file({name: np.zeros((3, 2), np.float32)}, path / "model.safetensors")
        refused(BadInputError, words)
    (path / "model.safetensors").write_bytes(b"no tensors")
    refused(BadInputError, "cannot be read")
    write_folder(static, path)
    modules = json.loads((path / "modules.json").read_text())
    modules.append({"idx": 1, "name": "1", "path": "1_Odd", "type": "x.Odd"})
    (path / "modules.json").write_text(json.dumps(modules))
    refused(BadInputError, "module Odd is not supported after StaticEmbedding")


@pytest.fixture(scope="module")
def encoder(plain_model):
    return load_encoder(plain_model)


@pytest.fixture(scope="module")
def counts(encoder, sentences):
    return count_tokens(sentences, encoder.tokenizer)


def tokens_of(encoder, text):
    return encoder.tokenizer(text, add_special_tokens=False)["input_ids"]


def slow_weights(encoder, texts, kind):
    occurrences, documents = Counter(), Counter()
    for text in texts:
        occurrences.update(tokens_of(encoder, text))
        documents.update(set(tokens_of(encoder, text)))
    total = sum(occurrences.values())
    special = set(encoder.tokenizer.all_special_ids)
    found = []
    for number in range(len(encoder.tokenizer)):
        idf = math.log((1 + len(texts)) / (1 + documents[number]))
        sif = 0.001 / (0.001 + occurrences[number] / total)
        found.append(0.0 if number in special else idf if kind == "idf" else sif)
    return np.array(found)


@pytest.mark.parametrize("kind", ["idf", "sif"])
def test_weights_equal_the_counters(encoder, counts, sentences, kind):
    np.testing.assert_allclose(counts.weights(kind), slow_weights(encoder, sentences, kind), rtol=1e-6)


def test_a_store_counts_as_its_texts_do_and_long_texts_count_whole(encoder, sentences, tmp_path):
    texts = list(dict.fromkeys([*sentences, " ".join(["river"] * 200)]))
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "texts.txt"], IngestOptions(part_rows=7))
    found, expected = count_store(session.store, encoder.tokenizer), count_tokens(texts, encoder.tokenizer)
    assert found.digest == expected.digest
    few = count_store(session.store, encoder.tokenizer, 10)
    assert few.digest == count_tokens(texts[:10], encoder.tokenizer).digest
    (river,) = tokens_of(encoder, "river")
    assert found.occurrences[river] >= 200


@pytest.mark.parametrize("kind", ["idf", "sif"])
@pytest.mark.parametrize("mode", ["mean", "static", "first-last", "first-last-1"])
def test_weighted_poolings_equal_a_loop_over_tokens(plain_model, encoder, counts, sentences, kind, mode):
    found = load_encoder(plain_model, pooling=f"{kind}:{mode}", counts=counts).encode(sentences)
    weights = slow_weights(encoder, sentences, kind)
    for text, vector in zip(sentences, found, strict=True):
        ids = encoder.tokenizer(text)["input_ids"]
        with torch.inference_mode():
            layers = encoder.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        first, second, last = (layers[number][0].numpy() for number in (0, 1, -1))
        states = {
            "mean": last,
            "static": first,
            "first-last": (first + last) / 2,
            "first-last-1": (second + last) / 2,
        }[mode]
        total = sum(weights[number] * state for number, state in zip(ids, states, strict=True))
        np.testing.assert_allclose(vector, total / sum(weights[number] for number in ids), atol=2e-5)


def test_a_text_of_special_tokens_alone_is_zero(plain_model, counts):
    encoder = load_encoder(plain_model, pooling="idf:mean", counts=counts)
    assert not encoder.encode([""]).any()


def slow_zipf(table, occurrences):
    """Zipfian whitening as the paper words it: every occurrence of a word is a data point."""
    points = np.repeat(table, occurrences, axis=0)
    center = points.mean(0)
    variance, directions = np.linalg.eigh((points - center).T @ (points - center) / len(points))
    kept = variance > 1e-9
    return (table - center) @ (directions[:, kept] / np.sqrt(variance[kept]))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_word_tables_equal_a_loop_over_words(encoder, counts, sentences, pooling):
    table = encoder.model.embeddings.word_embeddings.weight.detach().numpy().astype(np.float64)
    kind = pooling.rpartition(":")[0]
    if kind.startswith("zipf"):
        table = slow_zipf(table, counts.occurrences)
    weights = np.ones(len(table))
    if kind and not kind.endswith("zipf"):
        weights = slow_weights(encoder, sentences, kind.removeprefix("zipf-"))
    found = word_table(encoder, pooling, counts).encode(sentences)
    ids = [tokens_of(encoder, text) for text in sentences]
    expected = np.stack([np.mean([weights[i] * table[i] for i in of_text], axis=0) for of_text in ids])
    # Directions of a whitening may come in another order or with the other sign: angles and lengths decide.
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("mode", ["idf:mean", "sif:mean", "idf:first-last"])
def test_weights_are_saved_with_the_model_and_the_library_gives_the_same(
    plain_model, counts, sentences, tmp_path, mode
):
    from sentence_transformers import SentenceTransformer

    encoder = load_encoder(plain_model, pooling=mode, counts=counts)
    export(encoder, tmp_path / "model")
    again = load_encoder(tmp_path / "model")
    assert again.pooling == mode
    expected = encoder.encode(sentences)
    np.testing.assert_allclose(again.encode(sentences), expected, atol=1e-6)
    library = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    np.testing.assert_allclose(library.encode(sentences, show_progress_bar=False), expected, atol=1e-5)
    assert load_encoder(tmp_path / "model", pooling="mean").weights is None
    config = json.loads((tmp_path / "model/1_WordWeights/config.json").read_text(encoding="utf-8"))
    assert config["word_weights"]["[CLS]"] == 0.0


def test_cached_vectors_of_other_weights_are_others(plain_model, encoder, counts, sentences):
    few = count_tokens(sentences[:5], encoder.tokenizer)
    first, second = (load_encoder(plain_model, pooling="idf:mean", counts=given) for given in (counts, few))
    assert first.cache_key() != second.cache_key()


def test_weighted_whitening_is_whitening_of_repeated_rows():
    generator = np.random.default_rng(2)
    vectors, repeats = generator.normal(size=(40, 5)), generator.integers(1, 6, 40)
    found = transforms.fit(vectors, weights=repeats / repeats.sum())
    white = found(np.repeat(vectors, repeats, axis=0))
    np.testing.assert_allclose(white.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(white.T @ white / len(white), np.eye(5), atol=1e-4)


def test_what_cannot_be_weighted_is_said(plain_model, encoder, counts):
    assert (canonical("idf:avg"), weights_in("sif:mean"), weights_in("cls")) == ("idf:mean", "sif", "")
    assert needs_all_layers("idf:first-last") and not needs_all_layers("idf:mean")
    with pytest.raises(UsageError, match="before one of"):
        canonical("idf:cls")
    with pytest.raises(UsageError, match="mixes token weights"):
        canonical("idf:mean+static")
    with pytest.raises(UsageError, match="name its store"):
        load_encoder(plain_model, pooling="idf:mean")
    with pytest.raises(UsageError, match="name its store"):
        word_table(encoder, "sif:table")
    with pytest.raises(UsageError, match="needs the weights"):
        pool(torch.ones(1, 2, 3), torch.ones(1, 2), "idf:mean")
    with pytest.raises(UsageError, match="choose one of idf, sif"):
        counts.weights("bm25")
