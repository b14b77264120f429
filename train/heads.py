"""Heads between pooling and loss. They see the gathered global batch and are left out of what is saved."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augment_cli.errors import UsageError


class NoHead(nn.Identity):
    """The embeddings as they are."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension


class TanhHead(nn.Module):
    """SimCSE's head: one linear layer (d to d) and tanh, used in training only.

    Source: Gao et al. 2021, section 6.3; the initialisation is BERT's (normal, 0.02).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension
        self.dense = nn.Linear(dimension, dimension)
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, embeddings: Tensor) -> Tensor:
        """Map embeddings of shape (n, d) to (n, d)."""
        return torch.tanh(self.dense(embeddings))


class BatchNormHead(nn.Sequential):
    """The projection of DiffCSE and AugCSE: linear (d to 2d), batch norm, ReLU, linear (2d to d), batch norm.

    The linear layers have no bias and the last batch norm no scale and shift. All views of the gathered batch
    go through it together, so that N ranks normalise as one does.

    Source: Tang et al. 2022, after DiffCSE (Chuang et al. 2022).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, 2 * dimension, bias=False), nn.BatchNorm1d(2 * dimension), nn.ReLU(),
            nn.Linear(2 * dimension, dimension, bias=False), nn.BatchNorm1d(dimension, affine=False),
        )  # fmt: skip
        self.dimension = dimension


class ReluHead(nn.Sequential):
    """VaSCL's head: linear (d to d), ReLU, linear (d to 128), both without bias.

    Source: Zhang et al. 2022 ("two-layer MLP"); that there is no bias is from the authors' code.
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, dimension, bias=False), nn.ReLU(),
            nn.Linear(dimension, 128, bias=False),
        )  # fmt: skip
        self.dimension = 128


_HEADS = {"tanh": TanhHead, "batch-norm": BatchNormHead, "relu": ReluHead, "none": NoHead}


def make_head(name: str, dimension: int) -> nn.Module:
    """A head by its recipe name (`tanh`, `batch-norm`, `relu`, `none`); `dimension` is what it gives."""
    if name not in _HEADS:
        raise UsageError(f"unknown head {name!r}; choose one of {', '.join(_HEADS)}")
    return _HEADS[name](dimension)
