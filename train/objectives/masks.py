"""Which pairs of a batch are not negatives of each other: padding, missing texts, equal texts."""

from __future__ import annotations

import torch
from torch import Tensor

from train.data.texts import NO_TEXT


def no_negatives(
    rows: Tensor,
    partners: Tensor,
    columns: Tensor,
    own: Tensor,
    equal: bool = True,
    beside: Tensor | None = None,
) -> Tensor:
    """Which columns are no negatives of which rows.

    Parameters
    ----------
    rows, partners
        Text ids of the rows and of their positives, shape (R,) each; equal ids mean equal texts.
    columns
        Text ids of the columns, shape (C,).
    own
        Column of each row's positive, shape (R,); it is never excluded.
    equal
        Whether a column with the text of the row, or of its positive, is excluded.
    beside
        Text ids of the columns' own partners, shape (C,), `NO_SENTENCE` for a column that has none: the
        positive of an equal sentence is no negative either, however it is augmented.

    Returns
    -------
    Tensor
        Shape (R, C), bool.
    """
    excluded = (columns == NO_TEXT) | (rows == NO_TEXT)[:, None]
    if equal:
        for texts in (columns,) if beside is None else (columns, beside):
            excluded |= (texts == rows[:, None]) | (texts == partners[:, None])
    excluded[torch.arange(len(rows), device=rows.device), own] = False
    return excluded
