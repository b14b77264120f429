"""Poolings, and whitening."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import MODES, canonical, needs_all_layers, pool
from augment_cli.errors import BadInputError, UsageError
from tests.helpers.properties import examples


def reference(layers: list[np.ndarray], mode: str) -> np.ndarray:
    """One sentence without padding; `layers` are (tokens, d), the embedding output first."""
    last = layers[-1]
    position = np.arange(1, len(last) + 1)[:, None]
    return {
        "cls": lambda: last[0],
        "mean": lambda: last.mean(0),
        "max": lambda: last.max(0),
        "first-last": lambda: ((layers[0] + last) / 2).mean(0),
        "first-last-1": lambda: ((layers[1] + last) / 2).mean(0),
        "static": lambda: layers[0].mean(0),
        "weighted-mean": lambda: (last * position).sum(0) / position.sum(),
        "mean-sqrt-length": lambda: last.sum(0) / np.sqrt(len(last)),
        "last-token": lambda: last[-1],
    }[mode]()


@pytest.mark.parametrize("mode", MODES)
@examples(25)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), left=st.booleans(), seed=st.integers(0, 999)
)
def test_every_mode_equals_the_reference_whatever_the_padding(mode, lengths, left, seed):
    generator = np.random.default_rng(seed)
    width, layers = max(lengths) + 1, 3
    states = generator.normal(size=(layers, len(lengths), width, 5))  # padding holds garbage on purpose
    mask = np.zeros((len(lengths), width), dtype=int)
    expected = []
    for row, length in enumerate(lengths):
        place = slice(width - length, width) if left else slice(0, length)
        mask[row, place] = 1
        expected.append(reference([states[layer, row, place] for layer in range(layers)], mode))
    got = pool([torch.tensor(layer) for layer in states], torch.tensor(mask), mode)
    np.testing.assert_allclose(got.numpy(), np.stack(expected), atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_row_without_tokens_is_zero(mode):
    states = [torch.randn(2, 3, 4) for _ in range(3)]
    got = pool(states, torch.tensor([[0, 0, 0], [1, 1, 0]]), mode)
    assert not got[0].any()
    assert torch.isfinite(got).all()
    assert got[1].any()


def test_first_last_takes_the_embedding_output_and_not_the_first_layer():
    states = [torch.full((1, 2, 1), value) for value in (1.0, 10.0, 3.0)]
    mask = torch.ones(1, 2)
    assert pool(states, mask, "first-last").item() == 2.0
    assert pool(states, mask, "first-last-1").item() == 6.5
    assert pool(states, mask, "static").item() == 1.0


def test_joined_modes_are_concatenated_and_other_names_are_understood():
    tokens, mask = torch.randn(2, 3, 4), torch.ones(2, 3)
    joined = pool(tokens, mask, "cls_before_pooler+avg")
    assert torch.equal(joined, torch.cat([pool(tokens, mask, "cls"), pool(tokens, mask, "mean")], dim=1))
    assert canonical("avg_first_last+lasttoken") == "first-last+last-token"
    assert needs_all_layers("mean+static")
    assert not needs_all_layers("mean+max")


def test_unknown_modes_and_missing_layers_are_named():
    with pytest.raises(UsageError, match="unknown pooling 'median'; choose one of cls, mean"):
        canonical("median")
    with pytest.raises(UsageError, match="output_hidden_states=True"):
        pool(torch.randn(1, 2, 3), torch.ones(1, 2), "first-last")


def test_gradients_flow_to_every_token_that_counts_and_to_no_other():
    tokens = torch.randn(1, 3, 2, requires_grad=True)
    pool(tokens, torch.tensor([[1, 1, 0]]), "mean").sum().backward()
    np.testing.assert_allclose(tokens.grad[0].numpy(), [[0.5, 0.5], [0.5, 0.5], [0, 0]])


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
