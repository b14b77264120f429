"""Symmetric InfoNCE: rows and columns of the same matrix, averaged (CLIP, AugCSE)."""

from torch import Tensor

from train.losses.info_nce import masked_logits, surprise

LAYOUT = "columns"
FURTHER_NEGATIVES = True


def symmetric(
    anchors: Tensor,
    candidates: Tensor,
    excluded: Tensor,
    temperature: float,
    logit_bias: Tensor | None = None,
) -> Tensor:
    """Symmetric InfoNCE (CLIP): each anchor finds its positive, each positive its anchor; the mean of both.

    >>> anchors = torch.eye(2)
    >>> positives = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> nobody = torch.zeros(2, 2, dtype=torch.bool)  # is left out
    >>> symmetric(anchors, positives, nobody, temperature=0.5)
    tensor([0.2847, 0.4554])

    One matrix of logits, read both ways. On the way there a row is an anchor and a column a candidate, as in
    `train.losses.info_nce`. On the way back a row is a positive and a column an anchor, cos(positive i,
    anchor j) / τ, and row i's right answer is column i; hard negatives and other further candidates do not
    count here. Masking goes by the same entries both ways: where anchor i does not meet candidate j, positive
    j does not meet anchor i.

    The arguments are those of `train.losses.info_nce.info_nce`; `logit_bias` counts on the way there alone.
    Returns: (B,), nats, at least 0; row i is the mean of anchor i's and positive i's loss.

    Source: the authors' code of Tang et al. 2022 (AugCSE), for all settings without hard negatives; the form
    is CLIP's. With hard negatives their code does otherwise: they count on the way back, too.
    """
    logits = masked_logits(anchors, candidates, excluded, temperature, None)
    forth = logits if logit_bias is None else logits + logit_bias
    back = logits if logits.shape[1] == len(anchors) else logits[:, : len(anchors)]
    return (surprise(forth, 1) + surprise(back, 0)) / 2
