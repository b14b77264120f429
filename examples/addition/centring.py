"""Batch centring: the mean of the batch is taken off every embedding."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch


@dataclass(frozen=True)
class Settings:
    """Keys of ``[centring]``."""

    share: float = setting(1.0, "how much of the mean is taken off", minimum=0, maximum=1)


class Centring(Addition):
    """Subtracts a share of the mean of all views from every embedding, before the head.

    Source: none; an example.
    """

    settings_class = Settings

    def change(self, batch: GlobalBatch) -> Tensor:
        mean = batch.embeddings[batch.texts >= 0].mean(dim=0)  # not over texts that are missing
        return batch.embeddings - self.settings.share * mean
