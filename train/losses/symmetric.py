"""Symmetric one-way InfoNCE: rows and columns of the same matrix, averaged (CLIP, AugCSE)."""

from __future__ import annotations

from torch import Tensor

from train.losses.one_way import one_way

LAYOUT = "columns"
FURTHER_NEGATIVES = True


def symmetric(
    anchors: Tensor, candidates: Tensor, excluded: Tensor, temperature: float, bonus: Tensor | None = None
) -> Tensor:
    """Mean of anchor-to-positive and positive-to-anchor losses; hard negatives count for the anchors only.

    Parameters and result are those of `train.losses.one_way.one_way`. Masking goes by the same entries in
    both directions: where candidate j is no negative of anchor i, anchor i is none of positive j.

    Notes
    -----
    Source: Tang et al. 2022. Where there are hard negatives their code does otherwise, see
    `train.losses.ranking_pos_neg`.
    """
    rows = len(anchors)
    forward = one_way(anchors, candidates, excluded, temperature, bonus)
    backward = one_way(candidates[:rows], anchors, excluded[:, :rows].T, temperature)
    return (forward + backward) / 2
