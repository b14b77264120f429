"""Symmetric one-way InfoNCE: rows and columns of the same matrix, averaged (CLIP, AugCSE)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from train.losses.one_way import masked_logits, surprise

LAYOUT = "columns"
FURTHER_NEGATIVES = True

# Logits that differ by no more have exponentials that fp32 can hold when divided by the largest of all.
NARROW = 80.0


def symmetric(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None = None
) -> Tensor:
    """Each anchor finds its positive, and each positive its anchor; the mean of both losses.

    One matrix of logits, read both ways. On the way there a row is an anchor and a column a candidate, as in
    `train.losses.one_way`. On the way back a row is a positive and a column an anchor, cos(positive i, anchor
    j) / τ, and row i's right answer is column i; hard negatives and other further candidates do not count
    here. Masking goes by the same entries both ways: where anchor i does not meet candidate j, positive j
    does not meet anchor i.

    Parameters
    ----------
    anchors : Tensor
        z, shape (B, d); scaled to length 1 here.
    candidates : Tensor
        Shape (C, d), C at least B: the B positives z′ first, row i being anchor i's, then further negatives.
    excluded : Tensor
        Which candidates an anchor does not meet, shape (B, C), bool; never its own positive.
    temperature : float
        τ > 0, divides the cosines.
    bonus : Tensor or None, optional
        Added to the logits on the way there, shape (B, C).

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0; row i is the mean of anchor i's and positive i's loss.

    Notes
    -----
    Source: the authors' code of Tang et al. 2022 (AugCSE), for all settings without hard negatives; the form
    is CLIP's. With hard negatives their code does otherwise, see `train.losses.ranking_pos_neg`.
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, None)
    if bonus is None and logits.shape[1] == len(anchors) and _spread(logits) < NARROW:
        losses: Tensor = _BothWays.apply(logits)
        return losses
    forth = logits if bonus is None else logits + bonus
    back = logits if logits.shape[1] == len(anchors) else logits[:, : len(anchors)]
    return (surprise(forth, 1) + surprise(back, 0)) / 2


def _spread(logits: Tensor) -> float:
    """How far the least of the right answers, on the diagonal, is below the largest logit."""
    return float(logits.detach().max() - logits.detach().diagonal().min())


class _BothWays(torch.autograd.Function):
    """The same from one matrix of exponentials E, of which both ways take their sums.

    With r_i the sum of E's row i and c_i that of its column i, the loss of row i is half of log(r_i / E_ii)
    + log(c_i / E_ii). With g_i its gradient, that of a logit is E_ij (g_i / r_i + g_j / c_j) / 2, less g_i
    on the diagonal.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor) -> Tensor:
        powers = (logits - logits.max()).exp_()
        sums = torch.stack([powers.sum(dim=1), powers.sum(dim=0)])
        ctx.save_for_backward(powers, sums)
        return (sums / powers.diagonal()).log().mean(dim=0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        powers, sums = ctx.saved_tensors
        forth, back = gradient / 2 / sums
        found: Tensor = (forth[:, None] + back).mul_(powers)
        found.diagonal().sub_(gradient)
        return found
