"""Which rows go through a model together: by length, within a budget of tokens. A pure function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def batches_by_length(lengths: Sequence[int] | np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut rows into batches of similar length, the longest first."""
    # Rows of length 0 are in no batch. Equal lengths stay in their order, so the lengths decide all.
    lengths = np.asarray(lengths, np.int64)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    batches = []
    start = 0
    while start < len(order):
        count = max(1, budget // int(lengths[order[start]]))
        batches.append(order[start : start + count])
        start += count
    return batches
