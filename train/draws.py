"""Seeds for torch as pure functions of what is drawn, so that a resumed run draws the same numbers again."""

from __future__ import annotations

import hashlib
from typing import Any


def draw_key(*names: Any) -> int:
    """A seed for `torch.manual_seed` that depends on the names alone.

    Parameters
    ----------
    *names : Any
        What the draws are for, such as the run's seed, "dropout" and the step; told apart by their text.

    Returns
    -------
    int
        From 0 to below 2**63.
    """
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1
