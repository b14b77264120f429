"""Static encoders and their folders, as three libraries read them."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from model2vec import StaticModel
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

from augment_cli.encoding.encoder import to_length_one
from augment_cli.encoding.layout import is_static
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder, StaticTable, load_static, write_folder
from augment_cli.encoding.words_apart import count_tokens
from augment_cli.errors import BadInputError, MissingError, UsageError
from train.methods.distil import vocabulary

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
    """A static encoder of the small encoder's vocabulary, with weights."""
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


def test_weights_of_a_corpus_are_put_on_a_loaded_table(folder, sentences):
    plain = load_encoder(folder)
    counts = count_tokens(sentences, plain.tokenizer)
    found = load_encoder(folder, pooling="idf:mean", counts=counts)
    table = plain.model.embedding.weight.detach().numpy() * counts.weights("idf")[:, None]
    ids = [plain.tokenizer(text)["input_ids"] for text in TEXTS[:1]]
    np.testing.assert_allclose(found.encode(TEXTS[:1]), [table[row].mean(axis=0) for row in ids], atol=1e-5)


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
        ("embeddings", "ids up to 83, and the weights have 3 tokens"),
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
