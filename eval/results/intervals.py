"""How far a score would move with other test examples: 95 % intervals from the stored values per example."""

from __future__ import annotations

import math

import numpy as np

from augment_cli.reports.verdicts import wilson
from eval.results.files import ModelResults, read_items

_SCORE = 1.959963984540054  # of the normal distribution, for an interval of 95 %
_SAME = 1e-6  # a main score that is the mean of its examples, but for rounding


def interval_of(result: ModelResults, task: str) -> tuple[float, float] | None:
    """The interval around an encoder's main score on a task."""
    main = result.tasks[task].main if task in result.tasks else math.nan
    items = read_items(result.folder, task)
    if math.isnan(main):
        return None
    if "gold" in items and abs(main - result.tasks[task].scores.get("spearman", math.nan)) < _SAME:
        return spearman_interval(main, len(items["gold"]))
    right = items.get("correct", np.zeros(0))
    if right.dtype == bool and len(right) and abs(float(right.mean()) - main) < _SAME:
        return wilson(int(right.sum()), len(right))
    return None


def spearman_interval(correlation: float, count: int) -> tuple[float, float] | None:
    """95 % interval of a rank correlation; None for fewer than four pairs, or a correlation of ±1."""
    # Source: Bonett and Wright 2000 (Sample size requirements for estimating Pearson, Kendall and Spearman
    # correlations): Fisher's z with the variance (1 + ρ²/2) / (n - 3).
    if count < 4 or abs(correlation) >= 1:
        return None
    half = _SCORE * math.sqrt((1 + correlation**2 / 2) / (count - 3))
    middle = math.atanh(correlation)
    return math.tanh(middle - half), math.tanh(middle + half)
