"""DiffCSE's and AugCSE's projection."""

from torch import nn


class BatchNormHead(nn.Sequential):
    """The projection of DiffCSE and AugCSE: linear (d to 2d), batch norm, ReLU, linear (2d to d), batch norm.

    h is d; linear layers without bias, a last batch norm without scale and shift. N ranks normalise as one.

    Source: Tang et al. 2022, after DiffCSE (Chuang et al. 2022).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, 2 * dimension, bias=False), nn.BatchNorm1d(2 * dimension), nn.ReLU(),
            nn.Linear(2 * dimension, dimension, bias=False), nn.BatchNorm1d(dimension, affine=False),
        )  # fmt: skip
        self.dimension = dimension
