"""One-way InfoNCE: each anchor against the positives, and hard negatives as further columns (SimCSE)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

LAYOUT = "columns"
FURTHER_NEGATIVES = True


def one_way(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None = None
) -> Tensor:
    """Each anchor finds its own positive among all candidates.

    The logits have a row for each anchor and a column for each candidate: cos(anchor i, candidate j) / τ. Row
    i's right answer is column i; every other column that is not excluded is a negative. The loss of a row is
    −log softmax at its right answer.

    Parameters
    ----------
    anchors : Tensor
        z, shape (B, d); scaled to length 1 here.
    candidates : Tensor
        Shape (C, d), C at least B: the B positives z′ first, row i being anchor i's, then further negatives,
        such as K columns of B hard negatives z″ each. Scaled to length 1 here.
    excluded : Tensor
        Which candidates an anchor does not meet, shape (B, C), bool; never its own positive.
    temperature : float
        τ > 0, divides the cosines.
    bonus : Tensor or None, optional
        Added to the logits, shape (B, C); SimCSE's `hard_negative_weight`.

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0.

    Notes
    -----
    Source: Gao et al. 2021 (SimCSE), equations 4 and 5. The positive stays in the denominator.
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, bonus)  # (B, C)
    return surprise(logits, 1)


def masked_logits(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None
) -> Tensor:
    """Cosines / τ plus the bonus, −∞ where excluded.

    Parameters
    ----------
    anchors, candidates, excluded, temperature, bonus
        As in `one_way`.

    Returns
    -------
    Tensor
        Shape (B, C).
    """
    logits: Tensor = _ScaledCosines.apply(anchors, candidates, temperature)
    if excluded.any():
        logits = logits.masked_fill(excluded, float("-inf"))
    return logits if bonus is None else logits + bonus


def surprise(logits: Tensor, dim: int) -> Tensor:
    """−log softmax along a dimension, at the diagonal: what a batch's right answers cost.

    Parameters
    ----------
    logits : Tensor
        Shape (B, C), C at least B along which is normalised; −∞ nowhere on the diagonal.
    dim : int
        0 or 1.

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0.
    """
    losses: Tensor = _Surprise.apply(logits, dim)
    return losses


class _Surprise(torch.autograd.Function):
    """−log softmax at the diagonal; its gradient is the softmax less 1 at the diagonal, times the loss's.

    Autograd's way passes a matrix of zeros for the diagonal and sums over what is nearly nothing but zeros.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, dim: int) -> Tensor:
        logarithms = F.log_softmax(logits, dim=dim)
        ctx.save_for_backward(logarithms)
        ctx.dim = dim
        return -logarithms.diagonal()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (logarithms,) = ctx.saved_tensors
        found = logarithms.exp() * gradient.unsqueeze(ctx.dim)
        found.diagonal().sub_(gradient)
        return found, None


class _ScaledCosines(torch.autograd.Function):
    """Cosines / τ, with the gradient in closed form.

    Where an encoder is a table, autograd's way through normalisation and division takes longer than the rest
    of a step. With n the vectors of length 1 and g the gradient of a row of them, that of the vectors is
    (g − (g · n) n) / ‖v‖.
    """

    @staticmethod
    def forward(ctx: Any, anchors: Tensor, candidates: Tensor, temperature: float) -> Tensor:
        lengths = [_lengths(vectors) for vectors in (anchors, candidates)]
        units = [vectors / length for vectors, length in zip((anchors, candidates), lengths, strict=True)]
        ctx.save_for_backward(*units, *lengths)
        ctx.temperature = temperature
        return (units[0] / temperature) @ units[1].T

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        anchors, candidates, *lengths = ctx.saved_tensors
        gradient = gradient / ctx.temperature
        found = []
        for units, of_units, length in (
            (anchors, gradient @ candidates, lengths[0]),
            (candidates, gradient.T @ anchors, lengths[1]),
        ):
            along = (of_units * units).sum(dim=1, keepdim=True)
            found.append(torch.addcmul(of_units, units, along, value=-1).div_(length))
        return found[0], found[1], None


def _lengths(vectors: Tensor) -> Tensor:
    """Lengths, shape (n, 1), as `torch.nn.functional.normalize` bounds them."""
    return torch.linalg.vector_norm(vectors, dim=1, keepdim=True).clamp_min(1e-12)
