"""Dropout from sixteen random bits a number: torch's own takes a fifth of a small encoder's step on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEVELS = 2**16


def keep_mask(like: Tensor, p: float) -> Tensor | None:
    """What dropout multiplies a tensor with: 0 with probability p, else 1 / (1 − p)."""
    # The rate is rounded to a multiple of 1/65,536; four numbers share a 64-bit draw of torch's default
    # generator.
    dropped = round(p * _LEVELS)
    if not dropped:
        return None
    if dropped == _LEVELS:
        return torch.zeros_like(like)
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = draws.view(torch.int16)[: like.numel()].view(like.shape)
    # Written as numbers at once: a comparison's own result would have to be converted, at twice the cost.
    keep = torch.ge(bits, dropped - _LEVELS // 2, out=torch.empty(like.shape, dtype=like.dtype))
    return keep.mul_(_LEVELS / (_LEVELS - dropped))


class BitDropout(nn.Dropout):
    """`torch.nn.Dropout` with the draws of `keep_mask`."""

    def forward(self, input: Tensor) -> Tensor:
        """Zero each number with probability p and scale the others by 1 / (1 − p), in training only."""
        keep = keep_mask(input, self.p) if self.training else None
        return input if keep is None else input * keep


def use_bit_dropout(model: nn.Module) -> None:
    """Replace a model's dropout layers; the names of its weights stay."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, BitDropout(child.p))
