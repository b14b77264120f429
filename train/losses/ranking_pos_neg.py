"""The symmetric loss of AugCSE's code: hard negatives count in both directions."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from train.losses.one_way import masked_logits

LAYOUT = "columns"
FURTHER_NEGATIVES = False  # each has to be somebody's, for the way back


def ranking_pos_neg(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None = None
) -> Tensor:
    """Mean of two losses: anchor i finds its positive, and pair j, positive and hard negatives, its anchor.

    Parameters and result are those of `train.losses.one_way.one_way`, with a whole number of columns. On the
    way back the candidates of pair j are the cosines of every anchor to positive j, and of every anchor to
    each hard negative of j; the right one is anchor j to positive j. Without hard negatives this is
    `train.losses.symmetric.symmetric`, which lets positives find their anchors among the anchors alone.

    Notes
    -----
    Source: the authors' code of Tang et al. 2022, where the function is called so. Their equation 1 has the
    hard negative in the numerator, which cannot be meant.
    """
    rows = len(anchors)
    logits = masked_logits(anchors, candidates, excluded, temperature, bonus)
    back = logits.reshape(rows, -1, rows).permute(2, 1, 0).reshape(rows, -1)
    labels = torch.arange(rows, device=anchors.device)
    forth = F.cross_entropy(logits, labels, reduction="none")
    return (forth + F.cross_entropy(back, labels, reduction="none")) / 2
