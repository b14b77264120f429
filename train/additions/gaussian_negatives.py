"""gsInfoNCE's Gaussian negatives: random vectors that smooth the space of negatives."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from train.additions.base import Addition, GlobalBatch
from train.data.texts import NO_SENTENCE
from train.recipe import Recipe


@dataclass(frozen=True)
class Settings:
    """Keys of ``[gaussian_negatives]``.

    Attributes
    ----------
    count : int
        Vectors drawn in each step; the code's 192 are three times its batch.
    """

    count: int = 192


class GaussianNegatives(Addition):
    """Vectors of independent normal components as further negatives of every anchor, drawn anew in each step.

    The code's standard deviation (0.5 or 0.1) is left out: the loss takes cosines, and a vector's length does
    not change them.

    Source: Wu et al. 2022 (Smoothed contrastive learning, gsInfoNCE).
    """

    settings_class = Settings

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        return "" if settings.count > 0 else f"count = {settings.count} must be above 0"

    def negatives(self, batch: GlobalBatch) -> tuple[Tensor, Tensor]:
        assert batch.z is not None
        count, z = self.settings.count, batch.z
        noise = torch.randn(count, z.shape[-1], dtype=z.dtype, device=z.device)
        return noise, torch.full((count,), NO_SENTENCE, device=z.device)
