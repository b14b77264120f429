"""InfoNCE: each anchor against the positives, and hard negatives as further columns (SimCSE)."""

import torch.nn.functional as F
from torch import Tensor

from augment_cli.neural import fast
from train.losses import fast as closed_form

LAYOUT = "columns"
FURTHER_NEGATIVES = True


def info_nce(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    logit_bias: Tensor | None = None,
) -> Tensor:
    """InfoNCE (MultipleNegativesRankingLoss): each anchor finds its own positive among all candidates.

    >>> anchors = torch.eye(2)
    >>> positives, hard_negatives = torch.eye(2), -torch.eye(2)
    >>> nobody = torch.zeros(2, 4, dtype=torch.bool)  # is left out
    >>> info_nce(anchors, torch.cat([positives, hard_negatives]), nobody, temperature=0.5)
    tensor([0.2539, 0.2539])

    The logits have a row for each anchor and a column for each candidate: cos(anchor i, candidate j) / τ. Row
    i's right answer is column i; every other column that is not excluded is a negative. The loss of a row is
    −log softmax at its right answer.

    `anchors`: z, (B, d), and `candidates`: (C, d), both scaled to length 1 here; C is at least B: the B
    positives z′ first, row i being anchor i's, then further negatives, such as K columns of B hard negatives
    z″ each. `excluded`: which candidates an anchor does not meet, (B, C), bool; never its own positive.
    `temperature`: τ > 0, divides the cosines. `logit_bias`: added to the logits, (B, C); SimCSE's
    `hard_negative_weight`. Returns: (B,), nats, at least 0.

    Source: Gao et al. 2021 (SimCSE), equations 4 and 5. The positive stays in the denominator.
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, logit_bias)  # (B, C)
    return surprise(logits, 1)


def masked_logits(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, logit_bias: Tensor | None
) -> Tensor:
    """Cosines / τ plus the logit_bias, −∞ where excluded, (B, C); arguments as in `info_nce`."""
    if fast.is_on():
        logits = closed_form.scaled_cosines(anchors, candidates, temperature)
    else:
        logits = (F.normalize(anchors) / temperature) @ F.normalize(candidates).T
    if excluded.any():
        logits = logits.masked_fill(excluded, float("-inf"))
    return logits if logit_bias is None else logits + logit_bias


def surprise(logits: Tensor, dim: int) -> Tensor:
    """−log softmax along a dimension, at the diagonal: what a batch's right answers cost.

    `logits`: (B, C), C at least B along which is normalised; −∞ nowhere on the diagonal. Returns: (B,), nats.
    """
    if fast.is_on():
        return closed_form.surprise(logits, dim)
    return -F.log_softmax(logits, dim=dim).diagonal()
