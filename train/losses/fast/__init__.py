"""Gradients of InfoNCE's parts in closed form, for speed alone; the switch is `augment_cli.neural.fast`."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable


class _Surprise(torch.autograd.Function):
    """−log softmax of logits (B, C) along a dimension, at the diagonal, shape (B,).

    Its gradient is the softmax less 1 at the diagonal, times the loss's.
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
    """Cosines / τ of anchors (B, d) and candidates (C, d), shape (B, C), with the gradient in closed form.

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


scaled_cosines: Callable[[Tensor, Tensor, float], Tensor] = _ScaledCosines.apply
surprise: Callable[[Tensor, int], Tensor] = _Surprise.apply
