"""Heads between pooling and loss. They see the gathered global batch and are left out of what is saved."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augment_cli.errors import UsageError


class TanhHead(nn.Module):
    """SimCSE's head: one linear layer (d to d) and tanh, used in training only.

    Source: Gao et al. 2021, section 6.3; the initialisation is BERT's (normal, 0.02).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dense = nn.Linear(dimension, dimension)
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, embeddings: Tensor) -> Tensor:
        """Map embeddings of shape (n, d) to (n, d)."""
        return torch.tanh(self.dense(embeddings))


def make_head(name: str, dimension: int) -> nn.Module:
    """A head by its recipe name: `tanh`, or `none` for the embeddings as they are."""
    if name == "tanh":
        return TanhHead(dimension)
    if name == "none":
        return nn.Identity()
    raise UsageError(f"unknown head {name!r}; choose tanh or none")
