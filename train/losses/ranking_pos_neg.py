"""The symmetric loss of AugCSE's code: hard negatives count in both directions."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from train.losses.info_nce import masked_logits

LAYOUT = "columns"
FURTHER_NEGATIVES = False  # each must belong to a row, for the way back


def ranking_pos_neg(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    logit_bias: Tensor | None = None,
) -> Tensor:
    """AugCSE's loss: each anchor finds its positive, and each pair its anchor; the mean of both losses.

    >>> anchors = torch.eye(2)
    >>> positives, hard_negatives = torch.eye(2), -torch.eye(2)
    >>> nobody = torch.zeros(2, 4, dtype=torch.bool)  # is left out
    >>> ranking_pos_neg(anchors, torch.cat([positives, hard_negatives]), nobody, temperature=0.5)
    tensor([0.2539, 0.2539])

    Two matrices of logits. On the way there a row is an anchor and a column a candidate, as in
    `train.losses.info_nce`. On the way back row j is pair j, that is positive j together with the hard
    negatives of j; its columns are the cosines of every anchor to positive j, then of every anchor to each
    hard negative of j, and its right answer is anchor j to positive j. Without hard negatives this is
    `train.losses.symmetric`.

    Parameters
    ----------
    anchors, candidates, excluded, temperature, logit_bias
        As in `train.losses.info_nce.info_nce`; beside the positives the candidates are K columns of B hard
        negatives each, in the order of the rows. `excluded` holds for both ways.

    Returns
    -------
    Tensor
        Shape (B,), nats, at least 0; row i is the mean of anchor i's and pair i's loss.

    Notes
    -----
    Source: the authors' code of Tang et al. 2022 (AugCSE), where the function has this name. Their equation 1
    has the hard negative in the numerator, which cannot be meant.
    """
    rows = len(anchors)
    logits = masked_logits(anchors, candidates, excluded, temperature, logit_bias)  # (B, B · (1 + K))
    # (anchor, column, pair) to (pair, column, anchor): all that belongs to pair j side by side.
    back = logits.reshape(rows, -1, rows).permute(2, 1, 0).reshape(rows, -1)
    labels = torch.arange(rows, device=anchors.device)
    forth = F.cross_entropy(logits, labels, reduction="none")
    return (forth + F.cross_entropy(back, labels, reduction="none")) / 2
