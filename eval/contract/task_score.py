"""What every protocol returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class TaskScore:
    """The scores of one encoder on one task.

    Attributes
    ----------
    main : float
        The main score as a fraction (0 to 1, or -1 to 1 for correlations), or raw where the protocol's scores
        are no percentages; NaN where it is not defined.
    scores : dict of str to float
        Every score by name, the main one included.
    runs : list of float
        The main score of each seed, split or fold, where there are several.
    items : dict of str to numpy.ndarray
        Values per example, for the paired bootstrap and the plots: `similarity` and `gold`, or `correct`.
    settings : dict of str to Any
        What the protocol was run with.
    notes : list of str
        Everything out of the ordinary, in words.
    """

    main: float
    scores: dict[str, float]
    runs: list[float] = field(default_factory=list)
    items: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def deviation(self) -> float:
        """Sample standard deviation over the runs; NaN for fewer than two."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else math.nan


def undefined(metric: str, reason: str, settings: dict[str, Any] | None = None) -> TaskScore:
    """The score of a task that cannot be scored: NaN for the metric, with the reason as its note."""
    return TaskScore(math.nan, {metric: math.nan}, settings=settings or {}, notes=[reason])


def flaw(vectors: np.ndarray) -> str:
    """Why embeddings (n, d) cannot be scored at all; empty where they can."""
    return "" if np.isfinite(vectors).all() else "some embeddings are NaN or infinite"


def caution(vectors: np.ndarray) -> list[str]:
    """What a reader should know about embeddings (n, d) that can be scored, as notes."""
    if len(vectors) > 1 and not np.ptp(vectors, axis=0).any():
        return ["all embeddings are equal (constant encoder)"]
    return []
