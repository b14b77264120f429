"""Losses and their gradients against slow NumPy references, and the examples in their docstrings."""

import doctest
import inspect

import numpy as np
import pytest
import torch

from augment_cli.neural import fast
from tests.helpers.training import (
    check_gradients,
    check_with_columns,
    draw,
    reference_info_nce,
    reference_nt_xent,
    reference_symmetric,
    some_excluded,
)
from train import components
from train.losses import fast as closed_form
from train.losses.info_nce import info_nce
from train.losses.symmetric import symmetric
from train.methods.cosent.angle_addition import angle_similarity
from train.methods.cosent.cosent_addition import cosent
from train.methods.una.nt_xent_loss import nt_xent


@pytest.mark.parametrize("negatives", [0, 1, 3])
@pytest.mark.parametrize(
    ("loss", "reference"), [(info_nce, reference_info_nce), (symmetric, reference_symmetric)]
)
def test_losses_of_columns(loss, reference, negatives):
    check_with_columns(loss, reference, negatives)


def function_of(name):
    return getattr(components.module("losses", name), components.member("losses", name))


@pytest.mark.parametrize(
    "function", [*map(function_of, components.names("losses")), cosent, angle_similarity]
)
def test_the_example_of_a_loss(function):
    names = vars(inspect.getmodule(function)) | {"torch": torch}
    (example,) = doctest.DocTestFinder().find(function, globs=names)
    assert 3 <= len(example.examples) <= 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def both(monkeypatch, loss, dtype, zero=False):
    """Losses and gradients of anchors and candidates, in closed form and by autograd."""
    excluded = torch.zeros(6, 18, dtype=torch.bool)
    excluded[0, 3] = excluded[4, 17] = True
    bias = torch.tensor(draw(6, 18, seed=3), dtype=dtype)
    found = []
    for on in (True, False):
        monkeypatch.setattr(fast, "_wanted", on)
        if not on:  # nothing of it is called
            monkeypatch.setattr(closed_form, "scaled_cosines", None)
            monkeypatch.setattr(closed_form, "surprise", None)
        anchors, candidates = (torch.tensor(draw(n, 5, seed=n), dtype=dtype) for n in (6, 18))
        if zero:
            anchors[2] = 0
        losses = loss(anchors.requires_grad_(), candidates.requires_grad_(), excluded, 0.05, bias)
        (losses * torch.arange(1, 7)).sum().backward()
        found.append([losses.detach(), anchors.grad, candidates.grad])
    return zip(*found, strict=True)


@pytest.mark.parametrize("loss", [info_nce, symmetric])
@pytest.mark.parametrize(("precision", "atol"), [(torch.float64, 1e-11), (torch.float32, 1e-4)])
def test_closed_form_is_autograd(monkeypatch, loss, precision, atol):
    for ours, theirs in both(monkeypatch, loss, precision):
        torch.testing.assert_close(ours, theirs, rtol=atol, atol=atol)
        assert ours.abs().max() > 0.1


def test_a_zero_vector_has_the_same_finite_loss(monkeypatch):
    losses, *gradients = both(monkeypatch, info_nce, torch.float64, zero=True)
    torch.testing.assert_close(*losses, rtol=1e-11, atol=1e-11)
    assert all(torch.isfinite(gradient).all() for pair in gradients for gradient in pair)


def test_nt_xent():
    m, d = 6, 4
    first, second = draw(m, d), draw(m, d, seed=1)
    excluded = some_excluded(2 * m, 2 * m, (np.arange(2 * m) + m) % (2 * m))
    check_gradients(
        lambda *pair: nt_xent(*pair, torch.tensor(excluded), 0.5),
        lambda *pair: reference_nt_xent(*pair, excluded, 0.5),
        [first, second],
        atol=2e-8,
    )
