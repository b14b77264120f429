"""Random numbers as a pure function of what they are for: no state, no order, no module-level seed.

Each (seed, name, draw, row) opens its own SplitMix64 stream (Steele, Lea and Flood 2014, "Fast
splittable pseudorandom number generators"; the finaliser is Stafford's mix 13), and the position
within the row is the counter. So a row's draws never depend on the rows beside it, the part or the
worker that happens to compute them.
"""

import hashlib

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SMALLEST = 2.0**-60  # 0 has no logarithm


def splitmix64(states: np.ndarray | np.uint64, counters: np.ndarray) -> np.ndarray:
    """uint64 (n,): the counters-th outputs of the streams that begin at `states`; 1 is the first output."""
    value = states + counters * _GOLDEN
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def stream_key(seed: int, name: str, draw: int = 0) -> int:
    """64 bits for one purpose: `name` is the augmentation's, and which of its decisions is drawn."""
    digest = hashlib.sha256(f"{seed}\x1f{name}\x1f{draw}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def bits(key: int, row_ids: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """uint64 (n,): random bits by a `stream_key` for row_ids int64 (n,) and the counters in them, from 0."""
    rows = splitmix64(np.uint64(key), row_ids.astype(np.uint64) + np.uint64(1))
    return splitmix64(rows, counters.astype(np.uint64) + np.uint64(1))


def unit_interval(bits: np.ndarray) -> np.ndarray:
    """Random bits (uint64) as float64 on [0, 1), multiples of 2⁻⁵³."""
    return (bits >> np.uint64(11)) * 2.0**-53


def uniform(key: int, row_ids: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Float64 uniform on [0, 1) for each (row_id, counter), multiples of 2⁻⁵³."""
    return unit_interval(bits(key, row_ids, counters))


def gumbel_noise(key: int, row_ids: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Standard Gumbel noise, float64, for each (row_id, counter)."""
    # Added to log-probabilities, the largest is a draw from the distribution (Gumbel 1954; Maddison, Tarlow
    # and Minka 2014, "A* sampling").
    return -np.log(-np.log(np.maximum(uniform(key, row_ids, counters), _SMALLEST)))
