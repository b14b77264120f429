"""Losses: maths on the embeddings of the gathered global batch, without models and without ranks.

To add one, add a file `train/losses/my_loss.py` with a function `my_loss`; a recipe selects it by
``loss = "my-loss"``. The function returns one loss for each row, and the file says in constants how the batch
comes to it:

`LAYOUT`
    ``"columns"``: function(anchors, candidates, excluded, temperature, logit_bias), as in `info_nce.py`. Each
    anchor is a row of the logits, each candidate a column; negatives are further columns.
    ``"pool"``: function(first, second, excluded, temperature), as in `train/methods/una/nt_xent_loss.py`.
    Every view is a row and a column; negatives are further pairs of views.
`FURTHER_NEGATIVES`
    Whether candidates that belong to no row, such as a queue of old sentences, may follow the columns.
`FLOOR`
    The least value, in nats; 0.0 where the file does not say, None where there is none. A loss that comes
    near it has nothing left to teach, by which a run knows a collapse (`train/watching/`).

A loss with settings of its own has a frozen dataclass `Settings` in its file, every field with a default. A
recipe gives them in the table ``[loss_settings]``, the command by ``--set loss_settings.KEY=VALUE``, and the
function gets them as the keyword `settings`. Its `__post_init__` may raise `ValueError` for senseless values.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from train import components


@dataclass(frozen=True)
class Loss:
    """What the file of a loss says."""

    function: Callable[..., Tensor]  # gives one loss for each row of the logits
    layout: str  # "columns" or "pool"
    further_negatives: bool  # whether candidates that belong to no row may follow the columns
    settings_class: type[Any] | None = None  # the dataclass `Settings` of the file
    floor: float = 0.0  # the least value of the loss, in nats; −∞ where it has none

    def with_settings(self, values: dict[str, Any]) -> Callable[..., Tensor]:
        """The function with its settings, where it has any, given by name."""
        if self.settings_class is None:
            return self.function
        return functools.partial(self.function, settings=self.settings_class(**values))


@functools.cache  # asked for in every step, and finding the file takes longer than some losses
def find(name: str) -> Loss:
    """A loss by its name in a recipe, such as ``nt-xent``; `UsageError` if there is none."""
    file = components.module("losses", name)
    function = getattr(file, components.member("losses", name))
    floor = getattr(file, "FLOOR", 0.0)
    return Loss(
        function, file.LAYOUT, file.FURTHER_NEGATIVES, getattr(file, "Settings", None),
        -math.inf if floor is None else float(floor),
    )  # fmt: skip
