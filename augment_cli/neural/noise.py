"""Draws from a distribution that belong to the row: keyed Gumbel noise.

Adding independent Gumbel noise to log-probabilities and taking the largest draws from the distribution
(Gumbel 1954; Maddison, Tarlow and Minka 2014, "A* sampling").
"""

from __future__ import annotations

import numpy as np

from augment_cli.contract.draws import uniform

_SMALLEST = 2.0**-60  # 0 has no logarithm


def gumbel_noise(key: int, row_ids: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Standard Gumbel noise, float64, for each (row_id, counter)."""
    return -np.log(-np.log(np.maximum(uniform(key, row_ids, counters), _SMALLEST)))
