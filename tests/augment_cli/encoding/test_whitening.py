"""Whitening: the covariance becomes the identity, and a stored one is read by sentence-transformers too."""

import numpy as np
import pytest

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, UsageError


def test_whitened_vectors_have_mean_zero_and_covariance_one():
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(500, 6)) @ generator.normal(size=(6, 6)) + 3
    white = transforms.fit(vectors)(vectors)
    np.testing.assert_allclose(white.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(np.cov(white, rowvar=False, bias=True), np.eye(6), atol=1e-5)


def test_directions_without_variance_are_left_out_and_the_largest_come_first():
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(100, 3)) * [1, 5, 0] + 2
    fitted = transforms.fit(vectors)
    assert fitted.kernel.shape == (3, 2)
    assert np.abs(fitted.kernel[:, 0]).argmax() == 1
    assert transforms.fit(vectors, dimension=1)(vectors).shape == (100, 1)


def test_what_cannot_be_whitened_is_said():
    with pytest.raises(UsageError, match="these are all equal"):
        transforms.fit(np.ones((5, 3)))
    with pytest.raises(UsageError, match="at least two sentences, not 1"):
        transforms.fit(np.ones((1, 3)))


def test_stored_whitening_gives_the_same_here_and_in_sentence_transformers(
    old_layout, plain_model, sentences, tmp_path
):
    from sentence_transformers import SentenceTransformer

    fitted = transforms.fit(load_encoder(old_layout).encode(sentences), dimension=4)
    expected = fitted(load_encoder(old_layout).encode(sentences))
    target = tmp_path / "whitened"
    transforms.store(fitted, old_layout, target)
    ours = load_encoder(target).encode(sentences)
    np.testing.assert_allclose(ours, expected, atol=1e-4)
    theirs = SentenceTransformer(str(target), device="cpu").encode(sentences, show_progress_bar=False)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    with pytest.raises(UsageError, match="exists; name a new folder"):
        transforms.store(fitted, old_layout, target)
    with pytest.raises(BadInputError, match=r"has no modules\.json"):
        transforms.store(fitted, plain_model, tmp_path / "other")
