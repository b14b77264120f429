"""SimCSE's head."""

import torch
from torch import Tensor, nn


class TanhHead(nn.Module):
    """SimCSE's head: one linear layer (d to h = d) and tanh, used in training only.

    Source: Gao et al. 2021, section 6.3; the initialisation is BERT's (normal, 0.02).
    """

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension
        self.dense = nn.Linear(dimension, dimension)
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, embeddings: Tensor) -> Tensor:
        """(n, d) to (n, d)."""
        return torch.tanh(self.dense(embeddings))
