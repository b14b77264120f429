"""PCA jitter against the covariance, and where its hook acts."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import draw
from train.data.padding import Slice
from train.loading import make_recipe
from train.methods.pca_jitter.pca_jitter_addition import jitter, layer_module


def reference_jitter(hidden, alpha, noise):
    """By the d × d covariance, one sentence at a time."""
    norm = np.linalg.norm(hidden)
    if len(hidden) == 1:  # one token varies in no direction
        return hidden
    values, vectors = np.linalg.eigh(np.cov(hidden / norm, rowvar=False))
    added = np.zeros(hidden.shape[1])
    for k in range(min(hidden.shape)):
        value, vector = values[-1 - k], vectors[:, -1 - k]
        if value < 1e-14:  # a direction without variance adds nothing
            continue
        vector = vector * np.sign(vector[np.abs(vector).argmax()])
        added += alpha[k] * value * vector
    return hidden + norm * (added.sum() if noise == "scalar" else added)


@pytest.mark.parametrize("noise", ["vector", "scalar"])
@pytest.mark.parametrize("d", [3, 12])
def test_the_small_gram_matrix_gives_the_same_noise(noise, d):
    lengths = [6, 4, 1, 6]
    hidden, alpha = draw(4, 6, d), draw(4, 8, seed=1)
    mask = torch.tensor([[1] * n + [0] * (6 - n) for n in lengths])
    actual = jitter(torch.tensor(hidden), mask, torch.tensor(alpha), noise).numpy()
    for row, n in enumerate(lengths):
        expected = reference_jitter(hidden[row, :n], alpha[row], noise)
        np.testing.assert_allclose(actual[row, :n], expected, atol=1e-10)
        np.testing.assert_array_equal(actual[row, n:], hidden[row, n:])
        if n > 1:
            assert np.abs(actual[row, :n] - hidden[row, :n]).max() > 1e-4


def test_the_noise_is_a_constant_to_the_gradient():
    hidden = torch.tensor(draw(2, 5, 4), requires_grad=True)
    weights = torch.tensor(draw(2, 5, 4, seed=1))
    actual = jitter(hidden, torch.ones(2, 5), torch.ones(2, 5).double())
    (actual * weights).sum().backward()
    assert torch.equal(hidden.grad, weights)


def test_sigma_follows_its_schedule(make_addition, tiny_encoder):
    encoder = load_encoder(tiny_encoder).model

    def sigmas(schedule, level=2.0):
        addition = jitter_addition(make_addition, encoder, schedule=schedule, level=level)
        addition.steps = 100
        return [addition.sigma(step, np.random.default_rng(step)) for step in range(100)]

    assert set(sigmas("constant")) == {0.02}
    stepwise = sigmas("stepwise")
    assert [round(100 * sigma) for sigma in stepwise[::10]] == list(range(1, 11))
    assert stepwise == sorted(stepwise)
    assert {round(100 * sigma) for sigma in sigmas("random")} == set(range(1, 11))
    continuous = sigmas("continuous")
    assert continuous[0] == 0.01
    assert continuous[50] == pytest.approx(0.06)


def jitter_addition(make_addition, encoder, **values):
    host = SimpleNamespace(recipe=make_recipe({"batch": 8}), encoder=encoder)
    return make_addition("pca_jitter", model=host, **({"layer": 1} | values))


def test_alpha_is_drawn_by_row_and_step(make_addition, tiny_encoder):
    encoder = load_encoder(tiny_encoder).model
    one = jitter_addition(make_addition, encoder, level=10.0)
    each = jitter_addition(make_addition, encoder, level=10.0, draws="each")
    assert (one.alpha(0) == one.alpha(0)[:, :1]).all()
    np.testing.assert_array_equal(one.alpha(3), one.alpha(3))
    assert not np.allclose(one.alpha(3), one.alpha(4))
    many = np.concatenate([each.alpha(step).reshape(-1) for step in range(20)])
    assert many.std() == pytest.approx(0.1, rel=0.05)
    assert abs(many.mean()) < 4 * 0.1 / math.sqrt(len(many))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_only_positives_are_jittered_after_the_chosen_layer(make_addition, tiny_encoder, layer):
    encoder = load_encoder(tiny_encoder).model
    addition = jitter_addition(make_addition, encoder, layer=layer, level=100.0)

    host = SimpleNamespace(encoder=encoder)
    ids = torch.tensor([[2, 30, 40, 50, 3]] * 3)
    item = Slice(torch.arange(3), ids, torch.ones_like(ids))

    def states():
        actual = []
        # Hooks of our own, which see what earlier hooks made of an output.
        handles = [
            layer_module(encoder, number).register_forward_hook(
                lambda module, inputs, output: actual.append(
                    output[0] if isinstance(output, tuple) else output
                )
            )
            for number in range(3)
        ]
        with torch.no_grad():
            last = encoder(input_ids=ids, attention_mask=item.mask).last_hidden_state
        for handle in handles:
            handle.remove()
        assert torch.equal(last, actual[-1])
        return actual

    plain = states()
    with addition.encoding(host, item, torch.tensor([0, 0, 5]), torch.tensor([0, 1, 1]), 0):
        changed = states()
    for number, (a, b) in enumerate(zip(plain, changed, strict=True)):
        assert torch.equal(a[0], b[0])  # the anchor
        assert torch.equal(a[1:], b[1:]) == (number < layer)
    assert not torch.allclose(changed[layer][1], changed[layer][2])  # rows have draws of their own
    alpha = torch.tensor(addition.alpha(0))[[0, 0, 5]] * torch.tensor([[0], [1], [1]])
    expected = jitter(plain[layer].double(), item.mask, alpha)
    torch.testing.assert_close(changed[layer].double(), expected, atol=1e-5, rtol=1e-5)
    assert all(torch.equal(a, b) for a, b in zip(plain, states(), strict=True))  # the hook is gone


def test_a_layer_that_is_not_there_is_named(tiny_encoder):
    encoder = load_encoder(tiny_encoder).model
    with pytest.raises(UsageError, match="layers 0 to 2"):
        layer_module(encoder, 3)
    with pytest.raises(UsageError, match="knows BERT"):
        layer_module(torch.nn.Linear(2, 2), 0)
