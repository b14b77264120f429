"""ESimCSE's momentum contrast: sentences of the last steps, by the encoder's running mean, as negatives."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch, Host
from train.data import NO_TEXT
from train.recipe import Recipe


@dataclass(frozen=True)
class Settings:
    """Keys of ``[momentum]``."""

    rate: float = setting(
        0.995,
        "m: in every step the running mean becomes m · itself + (1 − m) · encoder",
        minimum=0,
        maximum=1,
    )
    queue: int = setting(160, "sentences kept, newest first; the paper has 2.5 times the batch", minimum=1)


class Momentum(Addition):
    """Further negatives from a queue that the encoder's running mean fills.

    In each step, after the gradients and before the optimiser: the running mean follows the encoder, encodes
    the anchors without dropout, and their vectors after the head enter the queue. The head is the one being
    trained, not a running mean of it, as in the authors' code; the paper leaves that open. The queue goes on
    from one epoch to the next, as in MoCo; the code, which trains one epoch, empties it. Equal texts are
    left out of each other's negatives here too.

    Source: Wu et al. 2022 (ESimCSE), after MoCo (He et al. 2020, equation 2).
    """

    settings_class = Settings
    vectors: Tensor
    texts: Tensor

    def __init__(self, settings: Settings, host: Host) -> None:
        super().__init__(settings, host)
        self.encoder = copy.deepcopy(host.encoder).requires_grad_(False).eval()
        self.register_buffer("vectors", torch.zeros(settings.queue, host.head_dimension, dtype=host.dtype))
        self.register_buffer("texts", torch.full((settings.queue,), NO_TEXT))
        # In a list, so that the encoder does not become a part of this module too.
        self._followed = [host.encoder]

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if recipe.head == "batch-norm":
            return 'does not go with head "batch-norm", which would see queue and batch apart'
        return ""

    def train(self, mode: bool = True) -> "Momentum":
        """Training mode for all but the running mean, which never drops anything."""
        super().train(mode)
        self.encoder.eval()
        return self

    def negatives(self, batch: GlobalBatch) -> tuple[Tensor, Tensor]:
        return self.vectors, self.texts

    def on_step_end(self, batch: GlobalBatch, encode: Callable[[nn.Module], Tensor]) -> None:
        pairs = zip(self.encoder.parameters(), self._followed[0].parameters(), strict=True)
        for mean, value in pairs:
            mean.lerp_(value, 1 - self.settings.rate)
        entering = batch.head(encode(self.encoder)[batch.real]).to(self.vectors.dtype)
        self.vectors.copy_(torch.cat([entering, self.vectors])[: self.settings.queue])
        self.texts.copy_(torch.cat([batch.texts[batch.real, 0], self.texts])[: self.settings.queue])
