"""Losses: maths on embeddings of the gathered global batch, no models, no ranks. One file each.

A recipe says ``loss = "nt-xent"`` and gets the function `nt_xent` of `nt_xent.py`. The file says too:

- `LAYOUT`, how the views of a batch come to it. `"columns"`: function(anchors, candidates, excluded,
  temperature, bonus), see `train.losses.one_way`. `"pool"`: function(first, second, excluded, temperature),
  see `train.losses.nt_xent`.
- `FURTHER_NEGATIVES`, whether candidates that belong to no row, such as a queue, may follow the columns.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def find(name: str) -> ModuleType:
    """The file of a loss by its recipe name."""
    return importlib.import_module(f"train.losses.{name.replace('-', '_')}")
