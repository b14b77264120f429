"""DiffCSE's and AugCSE's projection."""

from __future__ import annotations

from torch import nn


class BatchNormHead(nn.Sequential):
    """The projection of DiffCSE and AugCSE: linear (d to 2d), batch norm, ReLU, linear (2d to d), batch norm.

    The linear layers have no bias and the last batch norm no scale and shift. All views of the gathered batch
    go through it together, so that N ranks normalise as one does.

    Parameters
    ----------
    dimension : int
        d, length of the embeddings that go in.

    Attributes
    ----------
    dimension : int
        h, length of the vectors that come out: d.

    Notes
    -----
    Source: Tang et al. 2022, after DiffCSE (Chuang et al. 2022).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(
            nn.Linear(dimension, 2 * dimension, bias=False), nn.BatchNorm1d(2 * dimension), nn.ReLU(),
            nn.Linear(2 * dimension, dimension, bias=False), nn.BatchNorm1d(dimension, affine=False),
        )  # fmt: skip
        self.dimension = dimension
