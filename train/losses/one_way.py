"""One-way InfoNCE: each anchor against the positives, and hard negatives as further columns (SimCSE)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LAYOUT = "columns"
FURTHER_NEGATIVES = True


def one_way(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None = None
) -> Tensor:
    """Loss of each anchor, −log softmax of its own positive among all candidates.

    Parameters
    ----------
    anchors
        z, shape (B, d); scaled to length 1 here.
    candidates
        Shape (C, d), C at least B: the B positives z′ first, row i being anchor i's, then further negatives,
        such as K columns of B hard negatives z″ each.
    excluded
        Candidates that are no negatives of an anchor, shape (B, C), bool; never its own positive.
    temperature
        τ > 0, divides the cosines.
    bonus
        Added to the logits, same shape as `excluded`; SimCSE's `hard_negative_weight`.

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0.

    Notes
    -----
    Source: Gao et al. 2021, equations 4 and 5. The positive stays in the denominator.
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, bonus)
    labels = torch.arange(len(anchors), device=anchors.device)
    return F.cross_entropy(logits, labels, reduction="none")


def masked_logits(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None
) -> Tensor:
    """Cosines / τ with the bonus, −∞ where excluded; shape (B, C)."""
    logits = F.normalize(anchors, dim=-1) @ F.normalize(candidates, dim=-1).T / temperature
    if bonus is not None:
        logits = logits + bonus
    return logits.masked_fill(excluded, float("-inf"))
