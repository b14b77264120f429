"""Gradients in closed form are autograd's, and the switch says which are taken."""

import pytest
import torch

from augment_cli.neural import fast
from tests.helpers.training import draw
from train.losses.fast import closed_form
from train.losses.info_nce import info_nce
from train.losses.symmetric import symmetric


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
def test_closed_form_is_autograd_in_float64(monkeypatch, loss):
    for ours, theirs in both(monkeypatch, loss, torch.float64):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("loss", [info_nce, symmetric])
def test_fp32_rounds_and_no_more(monkeypatch, loss):
    for ours, theirs in both(monkeypatch, loss, torch.float32):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
        assert ours.abs().max() > 0.1


def test_a_zero_vector_has_the_same_finite_loss(monkeypatch):
    losses, *gradients = both(monkeypatch, info_nce, torch.float64, zero=True)
    torch.testing.assert_close(*losses, rtol=1e-11, atol=1e-11)
    assert all(torch.isfinite(gradient).all() for pair in gradients for gradient in pair)
