"""What the rules of a language answer for rows of sentences, and how they choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from augment_cli.contract.reasons import Reason

Draw = Callable[[int], np.ndarray]  # counter to (n,) uniforms


@dataclass
class Answer:
    """What becomes of each of n rows: the rule that fired or None, and the reason where none did."""

    rules: np.ndarray
    reasons: np.ndarray

    @classmethod
    def empty(cls, count: int) -> Answer:
        """No rule fired yet."""
        return cls(np.full(count, None, object), np.full(count, Reason.NO_RULE_APPLIES, object))


def pick(uniforms: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Uniforms in [0, 1) as choices 0 … count−1."""
    return np.minimum((uniforms * count).astype(np.int64), count - 1)
