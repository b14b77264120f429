"""Dropout from sixteen random bits a number: torch's own takes a fifth of a small encoder's step on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEVELS = 2**16


class BitDropout(nn.Dropout):
    """`torch.nn.Dropout` with the rate rounded to a multiple of 1/65,536; four numbers share a 64-bit draw.

    Draws come from torch's default generator, so they follow `torch.manual_seed`.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Zero each number with probability p and scale the others by 1 / (1 − p), in training only."""
        dropped = round(self.p * _LEVELS)
        if not self.training or not dropped or dropped == _LEVELS:
            return super().forward(input)
        draws = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = draws.view(torch.int16)[: input.numel()].view(input.shape)
        keep = (bits >= dropped - _LEVELS // 2).to(input.dtype)
        return input * keep.mul_(_LEVELS / (_LEVELS - dropped))


def use_bit_dropout(model: nn.Module) -> None:
    """Replace a model's dropout layers; the names of its weights stay."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, BitDropout(child.p))
