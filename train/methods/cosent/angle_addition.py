"""AnglE: CoSENT with the angle between two vectors of complex numbers for the cosine."""

import torch.nn.functional as F
from torch import Tensor

from train.methods.cosent.cosent_addition import Cosent, Settings

__all__ = ["Angle", "Settings"]


def angle_similarity(first: Tensor, second: Tensor) -> Tensor:
    """AnglE's similarity: |Σ Re + Σ Im| of a quotient, the first half of a vector being its real part.

    >>> first = torch.tensor([[1.0, 0.0], [1.0, 0.0]])  # 1 + 0i, twice
    >>> second = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # the same, and a quarter of a turn away
    >>> angle_similarity(first, second)
    tensor([1., 1.])

    `first, second`: (B, d); scaled to length 1 here, and given a last 0 where d is odd. Returns: (B,), from 0
    to √2; a cosine near its ends has a gradient of nearly 0, and this has not.

    Source: Li & Li 2024 (AnglE); `AnglELoss` of sentence-transformers.
    """
    padded = (F.pad(vectors, (0, vectors.shape[1] % 2)) for vectors in (first, second))
    (a, b), (c, d) = (F.normalize(vectors, dim=1).chunk(2, dim=1) for vectors in padded)
    return (a * c + b * d + b * c - a * d).sum(dim=1).abs()


class Angle(Cosent):
    """AnglE (AnglELoss): CoSENT with `angle_similarity` instead of the cosine; the same pairs and scores.

    Source: Li & Li 2024 (AnglE), its angle objective alone; with `[cosent]` beside it and a contrastive loss
    it is all three of theirs.
    """

    def similarity(self, first: Tensor, second: Tensor) -> Tensor:
        return angle_similarity(first, second)
