"""VaSCL's head."""

from torch import nn


class ReluHead(nn.Sequential):
    """VaSCL's head: linear (d to d), ReLU, linear (d to h = 128), both without bias.

    Source: Zhang et al. 2022 ("two-layer MLP"); that there is no bias is from the authors' code.
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, dimension, bias=False), nn.ReLU(),
            nn.Linear(dimension, 128, bias=False),
        )  # fmt: skip
        self.dimension = 128
