"""Lookups: against a slow reference, on texts of other kinds, and as sentence-transformers reads them."""

import math
import zlib

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense as TheirDense
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

from augment_cli.encoding import lookup as module
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.lookup import Lookup
from augment_cli.encoding.transforms import unit
from augment_cli.errors import BadInputError, UsageError
from augment_cli.resources import SAMPLE
from tests.helpers.places import REPOSITORY

STATIC = REPOSITORY / "data" / "models" / "static"
WORDS = ["river", "boat", "heron", "bank", "loan", "money", "tree", "leaf", "root", "train"]
TEXTS = [f"The {one} and the {other} number {number}." for number, one in enumerate(WORDS) for other in WORDS]


class Known(Encoder):
    def encode(self, texts, **options):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(6) for seed in seeds]).astype(np.float32)


def length_one(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("others", [[], ["p", "q", "r", "s"]])
def test_a_text_is_moved_by_attention_over_the_corpus(others):
    encoder = Known(None, None)
    texts = [f"w{number}" for number in range(30)]  # no word stands in two texts
    found = Lookup.fit(encoder, texts, others=others)
    vectors = [length_one(vector) for vector in encoder.encode(texts)]
    variance = 0.04 * sum(np.sum((vector - np.mean(vectors, axis=0)) ** 2) for vector in vectors) / 30
    for text, vector in zip(["x", "y"], found.encode(["x", "y"]), strict=True):
        start = length_one(encoder.encode([text])[0])
        weights = [math.exp((1 - np.sum((start - point) ** 2)) / (2 * variance)) for point in found.points]
        rest = math.exp(found.offset - found.direction @ start)
        moved = start.copy()
        for weight, point in zip(weights, found.points, strict=True):
            moved += weight / (sum(weights) + rest) * point
        np.testing.assert_allclose(vector, length_one(moved), atol=1e-5)
        assert (rest == 0) == (not others)


def test_a_twentieth_of_the_corpus_is_moved_by_less_than_half():
    encoder, texts = Known(None, None), [f"w{number}" for number in range(100)]
    found = Lookup.fit(encoder, texts, others=["p", "q", "r", "s"])
    below = 0
    for row, text in enumerate(texts):
        start = length_one(encoder.encode([text])[0])
        gaps = np.sum((start - np.delete(found.points, row, axis=0)) ** 2, axis=1)
        own = np.exp((1 - gaps) / (2 * found.variance)).sum()
        below += bool(own < math.exp(found.offset - found.direction @ start))
    assert below == 5


def test_others_that_tell_what_is_near_change_the_points():
    encoder, texts = Known(None, None), [f"w{number}" for number in range(30)]
    groups = np.eye(3, dtype=np.float32)

    class Groups(Known):
        def encode(self, texts, **options):
            return np.stack([groups[int(text[1:]) % 3] for text in texts])

    alone, helped = Lookup.fit(encoder, texts), Lookup.fit(encoder, texts, [(Groups(None, None), 5.0)])
    same = np.equal.outer(np.arange(30) % 3, np.arange(30) % 3)
    within, without = (np.corrcoef(one.points)[same].mean() for one in (helped, alone))
    assert within > without + 0.2


def test_texts_of_another_kind_stay_as_they_are():
    start = load_encoder(STATIC)
    general = SAMPLE.read_text("utf-8").splitlines()
    lookup = Lookup.fit(start, TEXTS[::2], others=general[::2])

    def kept(texts):
        return np.sum(lookup.encode(texts) * unit(start.encode(texts))[0], axis=1)

    assert np.quantile(kept(general[1::2]), 0.1) > 0.99
    assert np.median(kept(TEXTS[1::2])) < 0.985


def theirs(folder, texts):
    model = SentenceTransformer(str(folder), device="cpu")
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):  # it takes the right one
        return model.encode(texts, show_progress_bar=False)


@pytest.fixture(params=["a static encoder", "a transformer", "one without Normalize"])
def folder(request, plain_model, old_layout, tmp_path):
    if request.param == "a static encoder":
        return STATIC
    if request.param == "a transformer":
        return old_layout
    modules = [Transformer(str(plain_model)), Pooling(32, "mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "plain"))
    return tmp_path / "plain"


def test_sentence_transformers_reads_its_folder(folder, tmp_path):
    lookup = Lookup.fit(load_encoder(folder), TEXTS)
    lookup.save(folder, tmp_path / "lookup")
    said = ["The heron waits.", "The loan and the money.", "A boat"]
    expected = lookup.encode(said)
    np.testing.assert_allclose(load_encoder(tmp_path / "lookup").encode(said), expected, atol=1e-6)
    np.testing.assert_allclose(theirs(tmp_path / "lookup", said), expected, atol=2e-6)
    assert not np.allclose(expected, unit(load_encoder(folder).encode(said))[0], atol=1e-3)
    with pytest.raises(UsageError, match="exists; name a new folder"):
        lookup.save(folder, tmp_path / "lookup")


@pytest.mark.parametrize("width", [32, 8])
def test_a_residual_of_sentence_transformers_is_read(plain_model, tmp_path, width):
    dense = TheirDense(32, width, activation_function=torch.nn.Softmax(dim=None), use_residual=True)
    modules = [Transformer(str(plain_model)), Pooling(32, "mean"), dense]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "model"))
    expected = theirs(tmp_path / "model", WORDS)
    np.testing.assert_allclose(load_encoder(tmp_path / "model").encode(WORDS), expected, atol=2e-6)


def test_a_dense_module_without_weights_is_refused(tmp_path):
    lookup = Lookup.fit(load_encoder(STATIC), TEXTS)
    lookup.save(STATIC, tmp_path / "lookup")
    [attention, _] = sorted((tmp_path / "lookup").glob("*_Dense"))
    (attention / "model.safetensors").write_bytes((STATIC / "model.safetensors").read_bytes())
    with pytest.raises(BadInputError, match=r"without linear\.weight"):
        load_encoder(tmp_path / "lookup")


def test_it_keeps_so_many_texts_and_no_more(monkeypatch):
    monkeypatch.setattr(module, "_MOST_TEXTS", 7)
    assert len(Lookup.fit(load_encoder(STATIC), TEXTS).points) == 7
    assert len(Lookup.fit(load_encoder(STATIC), TEXTS[:5]).points) == 5


@pytest.mark.parametrize("texts", [["alone"], ["alone"] * 3, ["", "  "]])
def test_one_text_has_no_neighbours(texts):
    with pytest.raises(UsageError, match="at least two texts that the encoder knows"):
        Lookup.fit(load_encoder(STATIC), texts)


def test_equal_words_in_another_order_are_no_error():
    lookup = Lookup.fit(load_encoder(STATIC), ["the heron waits", "waits the heron"] * 5)
    assert np.isfinite(lookup.encode(["A boat.", "zzz"])).all()
