"""Seeds for torch as pure functions of what is drawn, so that a resumed run draws the same numbers again."""

import hashlib
from typing import Any

import torch


def draw_key(*names: Any) -> int:
    """A seed for `torch.manual_seed` that depends on the names alone."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seed_torch(*names: Any) -> None:
    """Seed torch's draws on the CPU, and on GPUs where they are used, by `draw_key`."""
    # `torch.manual_seed` does the same and, on a machine without a GPU, keeps a call with its stack for each
    # kind of device that might be used later: milliseconds a step, and memory that grows.
    key = draw_key(*names)
    torch.default_generator.manual_seed(key)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(key)
