"""Token weights and word tables against slow references that count one token at a time."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import torch

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import canonical, needs_all_layers, pool, weights_in
from augment_cli.encoding.static import POOLINGS, word_table, write_folder
from augment_cli.encoding.words_apart import count_store, count_tokens
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from train.outputs.export import export


@pytest.fixture(scope="module")
def encoder(plain_model):
    return load_encoder(plain_model)


@pytest.fixture(scope="module")
def counts(encoder, sentences):
    return count_tokens(sentences, encoder.tokenizer)


def tokens_of(encoder, text):
    return encoder.tokenizer(text, add_special_tokens=False)["input_ids"]


def slow_weights(encoder, texts, kind):
    """Weight of each id by the formulas, with counters."""
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


def test_a_word_table_knows_no_order_and_an_empty_text_is_zero(encoder):
    table = word_table(encoder, "table")
    first, second, empty = table.encode(["dog eats cat", "cat eats dog", ""])
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert not empty.any()


def test_sentence_transformers_gives_the_same_from_a_saved_word_table(encoder, counts, sentences, tmp_path):
    from sentence_transformers import SentenceTransformer

    table = word_table(encoder, "zipf-idf:table", counts)
    write_folder(table, tmp_path / "table")
    library = SentenceTransformer(str(tmp_path / "table"), device="cpu")
    theirs = library.encode(sentences, show_progress_bar=False)
    np.testing.assert_allclose(theirs, table.encode(sentences), atol=1e-5)


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
