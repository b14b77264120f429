"""MODALS' augmentations of embeddings."""

import numpy as np
import pytest
import torch

from tests.helpers.training import draw
from train.methods.modals.latent_augmentation_addition import Settings, augment

LAMBDA = 0.3


def latent(kind, z, real=None, seed=4, **values):
    value = torch.tensor(z, requires_grad=True)
    real = torch.ones(len(z), dtype=torch.bool) if real is None else torch.tensor(real)
    torch.manual_seed(seed)
    return value, augment(value, real, Settings(kind=kind, strength=LAMBDA, **values))


def moves(kind, z, **values):
    """(z̃ − z) / λ of each row."""
    value, changed = latent(kind, z, **values)
    return ((changed - value) / LAMBDA).detach().numpy()


def test_extrapolation():
    z = draw(6, 4)
    real = np.array([True] * 5 + [False])
    expected = z - z[:5].mean(axis=0)
    np.testing.assert_allclose(moves("extrapolation", z, real=real)[:5], expected[:5], rtol=1e-9)


def test_gaussian():
    z = draw(4000, 3) * np.array([0.5, 1.0, 4.0]) + 7
    noise = moves("gaussian", z) / z.std(axis=0)
    assert np.abs(noise.mean(axis=0)).max() < 0.08
    np.testing.assert_allclose(np.cov(noise.T), np.eye(3), atol=0.1)
    assert not np.allclose(moves("gaussian", z), moves("gaussian", z, seed=5))


def test_linear_is_a_difference_of_two_others():
    z = draw(7, 4)
    seen = set()
    for seed in range(30):
        for row, move in enumerate(moves("linear", z, seed=seed)):
            pairs = [(a, b) for a in range(7) for b in range(7) if a != b and np.allclose(z[a] - z[b], move)]
            assert len(pairs) == 1
            assert row not in pairs[0]
            seen.add((row, *pairs[0]))
    assert len(seen) > 100  # of 7 · 6 · 5 = 210


@pytest.mark.parametrize("choice", ["closest", "farthest"])
def test_interpolation_goes_towards_one_of_the_sample(choice):
    z = draw(12, 4) + 3
    centred = z - z.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    likeness = centred @ centred.T
    np.fill_diagonal(likeness, -np.inf if choice == "closest" else np.inf)
    best = likeness.argmax(axis=1) if choice == "closest" else likeness.argmin(axis=1)
    actual = z + moves("interpolation", z, sample=1.0, choice=choice)  # all of the pool is looked at
    np.testing.assert_allclose(actual, z[best], rtol=1e-9)
    one = z + moves("interpolation", z, sample=0.05, choice=choice)  # one member, whichever
    which = [[k for k in range(12) if np.allclose(z[k], row)] for row in one]
    assert all(len(k) == 1 and k[0] != row for row, k in enumerate(which))
    assert len({k[0] for k in which}) > 3


@pytest.mark.parametrize("kind", ["interpolation", "linear"])
def test_padding_is_in_no_pool_and_no_row_in_its_own(kind):
    z = draw(5, 4)
    z[2:] = 1e6
    real = np.array([True, True, False, False, False])
    for seed in range(10):
        value, changed = latent(kind, z, real, seed=seed)
        assert changed[:2].abs().max() < 100
    alone = np.array([True, False, False, False, False])
    value, changed = latent(kind, z, alone)
    assert torch.equal(changed[0], value[0])


@pytest.mark.parametrize("kind", ["interpolation", "extrapolation", "linear", "gaussian"])
def test_the_gradient_goes_through_the_sentence_alone(kind):
    z = draw(6, 4)
    value, changed = latent(kind, z)
    weights = torch.tensor(draw(6, 4, seed=1))
    (changed * weights).sum().backward()
    factor = {"interpolation": 1 - LAMBDA, "extrapolation": 1 + LAMBDA}.get(kind, 1.0)
    torch.testing.assert_close(value.grad, factor * weights)


def test_only_the_positive_is_changed(make_addition, make_batch):
    values = draw(6, 3, 4)
    changed = make_addition("latent_augmentation", kind="extrapolation").change(make_batch(values)).numpy()
    np.testing.assert_array_equal(changed[:, [0, 2]], values[:, [0, 2]])
    assert (changed[:, 1] != values[:, 1]).all()
