"""Losses: maths on the embeddings of the gathered global batch, without models and without ranks.

To add one, add one file: `train/losses/my_loss.py` with a function `my_loss` is what a recipe gets that says
``loss = "my-loss"``. The function returns one loss for each row, and the file says in two constants how the
batch comes to it:

`LAYOUT`
    ``"columns"``: function(anchors, candidates, excluded, temperature, bonus), as in `one_way.py`. Each
    anchor is a row of the logits, each candidate a column; negatives are further columns.
    ``"pool"``: function(first, second, excluded, temperature), as in `nt_xent.py`. Every view is a row and a
    column; negatives are further pairs of views.
`FURTHER_NEGATIVES`
    Whether candidates that belong to no row, such as a queue of old sentences, may follow the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from train import components


@dataclass(frozen=True)
class Loss:
    """What the file of a loss says.

    Attributes
    ----------
    function : callable
        Gives one loss for each row of the logits.
    layout : str
        ``"columns"`` or ``"pool"``.
    further_negatives : bool
        Whether candidates that belong to no row may follow the columns.
    """

    function: Callable[..., Tensor]
    layout: str
    further_negatives: bool


def find(name: str) -> Loss:
    """A loss by its name in a recipe.

    Parameters
    ----------
    name : str
        Such as ``nt-xent``.

    Raises
    ------
    UsageError
        If there is no such loss.
    """
    file = components.module("losses", name)
    return Loss(getattr(file, components.function_name(name)), file.LAYOUT, file.FURTHER_NEGATIVES)
