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
    return -F.log_softmax(logits, dim=1).diagonal()


def masked_logits(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None
) -> Tensor:
    """Cosines / τ plus the bonus, −∞ where excluded.

    The sum of mask and bonus has no gradient to compute, and the product is added to it; each operation on the
    matrix that is saved counts, where an encoder is a table and costs next to nothing.

    Parameters
    ----------
    anchors, candidates, excluded, temperature, bonus
        As in `one_way`.

    Returns
    -------
    Tensor
        Shape (B, C).
    """
    added = (~excluded).to(anchors.dtype).log()  # 0, or −∞ where excluded
    if bonus is not None:
        added = added + bonus
    return torch.addmm(added, F.normalize(anchors, dim=-1) / temperature, F.normalize(candidates, dim=-1).T)
