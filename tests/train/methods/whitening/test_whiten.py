"""Whitening after training."""

import numpy as np

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.store.store import Store
from tests.helpers.training import logged_run
from train.methods.whitening.whiten import spaced_texts, store_whitened


def test_whitening_is_stored_with_the_model(tiny_store, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    values = {"epochs": 0, "whiten": 100, "whiten_dimension": 8}
    outcome, _ = logged_run(tiny_store, tiny_encoder, tmp_path, values)
    assert outcome.steps == 0
    texts = Store.open(tiny_store).read("corpus")["text"].to_pylist()
    chosen = spaced_texts(Store.open(tiny_store), 100)
    assert len(chosen) == 100
    assert (chosen[0], chosen[-1]) == (texts[0], texts[-1])
    plain, white = load_encoder(tmp_path / "best"), load_encoder(tmp_path / "whitened")
    vectors = white.encode(chosen)
    assert vectors.shape == (100, 8)
    np.testing.assert_allclose(vectors.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(vectors.T, bias=True), np.eye(8), atol=1e-2)
    expected = transforms.fit(plain.encode(chosen), 8)(plain.encode(texts[:5]))
    np.testing.assert_allclose(white.encode(texts[:5]), expected, atol=1e-4)
    library = SentenceTransformer(str(tmp_path / "whitened"), device="cpu")
    np.testing.assert_allclose(library.encode(texts[:5]), expected, atol=1e-4)
    before = (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes()
    store_whitened(tmp_path / "best", tmp_path / "whitened", Store.open(tiny_store), 100, 8)  # once more
    assert (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes() == before


def test_spaced_texts_are_spread_over_the_corpus(tiny_store):
    store = Store.open(tiny_store)
    texts = store.read("corpus")["text"].to_pylist()
    assert spaced_texts(store, 10_000) == texts
    assert spaced_texts(store, 4) == [texts[row] for row in (0, 50, 99, 149)]
