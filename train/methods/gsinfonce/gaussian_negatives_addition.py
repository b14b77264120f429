"""gsInfoNCE's Gaussian negatives: random vectors that smooth the space of negatives."""

from dataclasses import dataclass

import torch
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch
from train.data import NO_SENTENCE


@dataclass(frozen=True)
class Settings:
    """Keys of ``[gaussian_negatives]``."""

    count: int = setting(
        192, "vectors drawn in each step; the code's 192 are three times its batch", minimum=1
    )


class GaussianNegatives(Addition):
    """Vectors of independent normal components as further negatives of every anchor, drawn anew in each step.

    The code's standard deviation (0.5 or 0.1) is left out: the loss takes cosines, and a vector's length does
    not change them.

    Source: Wu et al. 2022 (Smoothed contrastive learning, gsInfoNCE).
    """

    settings_class = Settings

    def negatives(self, batch: GlobalBatch) -> tuple[Tensor, Tensor]:
        assert batch.z is not None
        count, z = self.settings.count, batch.z
        noise = torch.randn(count, z.shape[-1], dtype=z.dtype, device=z.device)
        return noise, torch.full((count,), NO_SENTENCE, device=z.device)
