"""Focal InfoNCE: alike pairs weigh more than unlike ones, by their own cosine (Focal-InfoNCE)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

LAYOUT = "columns"
FURTHER_NEGATIVES = True


@dataclass(frozen=True)
class Settings:
    """Keys of ``[loss_settings]``.

    Attributes
    ----------
    margin : float
        m, added to a negative's cosine where that cosine is weighed by itself; 0 or more.
    """

    margin: float = 0.3

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise ValueError(f"margin = {self.margin} must be a number from 0")


def focal(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    bonus: Tensor | None = None,
    *,
    settings: Settings,
) -> Tensor:
    """Each anchor finds its own positive; every cosine s is weighed by itself before it becomes a logit.

    The logit of the positive is s · s / τ and that of a negative s · (s + m) / τ. So an easy negative, whose
    cosine is near 0, hardly counts, and a hard one counts more than in `train.losses.one_way`; a positive
    that is not yet alike pulls less than there. The loss of a row is −log softmax at its positive.

    Parameters
    ----------
    anchors, candidates, excluded, temperature, bonus
        As in `train.losses.one_way.one_way`.
    settings : Settings
        The margin m.

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0.

    Notes
    -----
    Source: Hou & Li 2023 (Focal-InfoNCE), the equation of the loss. A cosine below −m has a logit above 0
    there and here, which rises as it falls.
    """
    cosines = F.normalize(anchors, dim=-1) @ F.normalize(candidates, dim=-1).T
    own = torch.eye(*cosines.shape, dtype=torch.bool, device=cosines.device)
    logits = cosines * torch.where(own, cosines, cosines + settings.margin) / temperature
    if bonus is not None:
        logits = logits + bonus
    labels = torch.arange(len(anchors), device=anchors.device)
    return F.cross_entropy(logits.masked_fill(excluded, float("-inf")), labels, reduction="none")
