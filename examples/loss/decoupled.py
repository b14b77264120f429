"""Decoupled InfoNCE: the positive is left out of the denominator (DCL)."""

from __future__ import annotations

import torch
from torch import Tensor

from train.losses.info_nce import masked_logits

LAYOUT = "columns"
FURTHER_NEGATIVES = True
FLOOR = None  # the loss may be negative


def decoupled(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    logit_bias: Tensor | None = None,
) -> Tensor:
    """Decoupled InfoNCE: each anchor finds its own positive, which does not compete with itself.

    >>> anchors, positives = torch.eye(2), torch.eye(2)
    >>> nobody = torch.zeros(2, 2, dtype=torch.bool)  # is left out
    >>> decoupled(anchors, positives, nobody, temperature=0.5)
    tensor([-2., -2.])

    The loss of a row is log Σ exp over its negatives' logits, minus its positive's logit. Parameters and
    result are those of `train.losses.info_nce.info_nce`, but the loss may be negative.

    Notes
    -----
    Source: Yeh et al. 2022 (Decoupled contrastive learning).
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, logit_bias)
    positives = logits.diagonal()
    own = torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
    return logits.masked_fill(own, float("-inf")).logsumexp(dim=1) - positives
