"""Which pairs of a batch do not meet in the loss: padding, missing texts, equal texts."""

from __future__ import annotations

import torch
from torch import Tensor

from train.data.texts import NO_TEXT


def excluded_pairs(
    rows: Tensor,
    partners: Tensor,
    columns: Tensor,
    own: Tensor,
    equal: bool = True,
    beside: Tensor | None = None,
) -> Tensor:
    """Which columns of the logits are not negatives of which rows.

    Parameters
    ----------
    rows, partners : Tensor
        Text ids of the rows and of their positives, shape (R,) each; equal ids mean equal texts.
    columns : Tensor
        Text ids of the columns, shape (C,).
    own : Tensor
        Column of each row's positive, shape (R,); it is never excluded.
    equal : bool, optional
        Whether a column with the text of the row, or of its positive, is excluded.
    beside : Tensor or None, optional
        Text ids of the columns' own partners, shape (C,), `NO_SENTENCE` for a column that has none: the
        positive of an equal sentence is not a negative either, however it is augmented.

    Returns
    -------
    Tensor
        Shape (R, C), bool.
    """
    missing, padded = columns == NO_TEXT, rows == NO_TEXT
    excluded = torch.zeros(len(rows), len(columns), dtype=torch.bool, device=rows.device)
    if bool(missing.any()) or bool(padded.any()):
        excluded = missing | padded[:, None]
    if equal and not _all_differ(rows, partners, columns, beside):
        for texts in (columns,) if beside is None else (columns, beside):
            excluded |= (texts == rows[:, None]) | (texts == partners[:, None])
    excluded[torch.arange(len(rows), device=rows.device), own] = False
    return excluded


def _all_differ(rows: Tensor, partners: Tensor, columns: Tensor, beside: Tensor | None) -> bool:
    """Whether no text occurs twice, but as its own partner: then there are no pairs to look for.

    Sorting some hundred numbers costs little beside comparing each with each.
    """
    texts = torch.cat([rows, columns, *([] if beside is None else [beside])])
    distinct = len(torch.unique(texts[texts >= 0]))
    own = (rows == partners) & (rows >= 0)
    return distinct == int((rows >= 0).sum() + (columns >= 0).sum() - own.sum())
