"""Symmetric one-way InfoNCE: rows and columns of the same matrix, averaged (CLIP, AugCSE)."""

from __future__ import annotations

from torch import Tensor

from train.losses.one_way import masked_logits, surprise

LAYOUT = "columns"
FURTHER_NEGATIVES = True


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
    forth = logits if bonus is None else logits + bonus
    back = logits if logits.shape[1] == len(anchors) else logits[:, : len(anchors)]
    return (surprise(forth, 1) + surprise(back, 0)) / 2
