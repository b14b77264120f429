"""Focal InfoNCE: alike pairs weigh more than unlike ones, by their own cosine (Focal-InfoNCE)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting

LAYOUT = "columns"
FURTHER_NEGATIVES = True


@dataclass(frozen=True)
class Settings:
    """Keys of ``[loss_settings]``."""

    margin: float = setting(
        0.3, "m, added to a negative's cosine where that cosine is weighed by itself; 0 or more", minimum=0
    )


def focal(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    logit_bias: Tensor | None = None,
    *,
    settings: Settings,
) -> Tensor:
    """Focal InfoNCE: each anchor finds its own positive; every cosine s is weighed by itself.

    >>> anchors = torch.eye(2)
    >>> positives, hard_negatives = torch.eye(2), torch.ones(2, 2)
    >>> nobody = torch.zeros(2, 4, dtype=torch.bool)  # is left out
    >>> focal(anchors, torch.cat([positives, hard_negatives]), nobody, 0.5, settings=Settings(margin=0.3))
    tensor([0.8153, 0.8153])

    The logit of the positive is s · s / τ and that of a negative s · (s + m) / τ. So an easy negative, whose
    cosine is near 0, hardly counts, and a hard one counts more than in `train.losses.info_nce`; a positive
    that is not yet alike pulls less than there. The loss of a row is −log softmax at its positive.

    Parameters
    ----------
    anchors, candidates, excluded, temperature, logit_bias
        As in `train.losses.info_nce.info_nce`.
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
    if logit_bias is not None:
        logits = logits + logit_bias
    labels = torch.arange(len(anchors), device=anchors.device)
    return F.cross_entropy(logits.masked_fill(excluded, float("-inf")), labels, reduction="none")
