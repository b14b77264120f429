"""VaSCL's head."""

from __future__ import annotations

from torch import nn


class ReluHead(nn.Sequential):
    """VaSCL's head: linear (d to d), ReLU, linear (d to 128), both without bias.

    Parameters
    ----------
    dimension : int
        d, length of the embeddings that go in.

    Attributes
    ----------
    dimension : int
        h, length of the vectors that come out: 128.

    Notes
    -----
    Source: Zhang et al. 2022 ("two-layer MLP"); that there is no bias is from the authors' code.
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, dimension, bias=False), nn.ReLU(),
            nn.Linear(dimension, 128, bias=False),
        )  # fmt: skip
        self.dimension = 128
