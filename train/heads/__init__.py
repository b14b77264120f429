"""Heads between pooling and loss: one file each, found by its name. They are left out of what is saved.

A recipe says ``head = "batch-norm"`` and gets the class `BatchNormHead` of `batch_norm.py`. It is made with
the encoder's dimension d, maps embeddings of shape (n, d), those of the whole gathered batch, to (n, h), and
says h in `dimension`.
"""

from __future__ import annotations

import importlib

from torch import nn

from augment_cli.errors import UsageError
from train.recipe import HEADS, names_in


def make_head(name: str, dimension: int) -> nn.Module:
    """A head by its recipe name.

    Raises
    ------
    UsageError
        If there is no such head.
    """
    if name not in names_in(HEADS):
        raise UsageError(f"unknown head {name!r}; choose one of {', '.join(names_in(HEADS))}")
    module = importlib.import_module(f"train.heads.{name.replace('-', '_')}")
    return getattr(module, "".join(part.title() for part in name.split("-")) + "Head")(dimension)
