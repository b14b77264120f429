"""Paired bootstrap test between two encoders on the examples of a task (Efron; Koehn 2004)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from augment_cli.errors import BadInputError, UsageError
from eval.results.files import ModelResults, read_items

RESAMPLES = 2000
_MOST_RESAMPLES = 1_000_000
_BLOCK = 200  # resamples ranked at once


@dataclass(frozen=True)
class Comparison:
    """The difference of two encoders on one task, first minus second.

    Attributes
    ----------
    task, statistic : str
        Task, and what is compared (`spearman`, or a mean of correctness per example).
    first, second : float
        The statistic of each.
    low, high : float
        Percentile interval of the difference that holds 95 % of the resamples.
    p : float
        Two-sided: twice the smaller share of resamples on one side of zero, at most 1 (one is added to each
        count, so it is never 0).
    """

    task: str
    statistic: str
    first: float
    second: float
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second


def _pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    norms = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    return np.divide((a * b).sum(axis=-1), norms, out=np.full(norms.shape, math.nan), where=norms > 0)


def spearman_rows(similarity: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Spearman correlation of matching rows, shape (resamples, pairs) each; NaN where a row is constant."""
    return _pearson(rankdata(similarity, axis=-1), rankdata(gold, axis=-1))


def _mean_rows(values: np.ndarray, gold: np.ndarray) -> np.ndarray:
    return values.mean(axis=-1)


def paired_bootstrap(
    first: np.ndarray,
    second: np.ndarray,
    gold: np.ndarray | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float, float, float, float]:
    """Resample the examples, the same for both, and look at the difference.

    Parameters
    ----------
    first, second : numpy.ndarray
        Values of the two encoders on the same n examples, shape (n,): similarities where `gold` is given (the
        statistic is then Spearman), else correctness in [0, 1] (the statistic is the mean).
    gold : numpy.ndarray, optional
        Gold similarity of each example, shape (n,).
    resamples : int
        How many draws of n examples with replacement.
    seed : int
        What decides them.

    Returns
    -------
    tuple of float
        (statistic of first, of second, low, high, p) as in `Comparison`.

    Raises
    ------
    UsageError
        If the lengths differ, there are fewer than two examples, or a number makes no sense.
    """
    n = len(first)
    if not 0 < resamples <= _MOST_RESAMPLES:
        raise UsageError(f"--resamples {resamples}: must be from 1 to {_MOST_RESAMPLES:,}")
    if seed < 0:
        raise UsageError(f"--seed {seed}: must be at least 0")
    if n != len(second) or n < 2 or (gold is not None and len(gold) != n):
        raise UsageError(f"a paired test needs the same examples twice, not {n} and {len(second)}")
    target = np.zeros(n) if gold is None else gold
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray] = _mean_rows if gold is None else spearman_rows
    generator = np.random.default_rng(seed)
    differences = []
    for start in range(0, resamples, _BLOCK):
        rows = generator.integers(0, n, size=(min(_BLOCK, resamples - start), n))
        differences.append(statistic(first[rows], target[rows]) - statistic(second[rows], target[rows]))
    drawn = np.concatenate(differences)
    drawn = drawn[np.isfinite(drawn)]
    a, b = (float(statistic(values[None], target[None])[0]) for values in (first, second))
    if not len(drawn):
        return a, b, math.nan, math.nan, math.nan
    side = min((drawn <= 0).sum(), (drawn >= 0).sum())
    low, high = np.percentile(drawn, [2.5, 97.5])
    return a, b, float(low), float(high), min(1.0, 2 * (int(side) + 1) / (len(drawn) + 1))


def compare(
    first: ModelResults, second: ModelResults, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Comparison]:
    """Compare two encoders on every task for which both have values per example.

    Parameters
    ----------
    first, second : ModelResults
        The two encoders.
    resamples, seed : int
        As `paired_bootstrap`.

    Returns
    -------
    list of Comparison
        One for each task and statistic.

    Raises
    ------
    UsageError
        If there is no such task.
    BadInputError
        If the two were scored on different examples.
    """
    comparisons = []
    for task in first.tasks:
        if task not in second.tasks:
            continue
        a, b = read_items(first.folder, task), read_items(second.folder, task)
        if "gold" in a and "gold" in b:
            if not np.array_equal(a["gold"], b["gold"]):
                raise BadInputError(
                    f"{task}: the two models were scored on different pairs; score both again"
                )
            values = paired_bootstrap(
                a["similarity"], b["similarity"], a["gold"], resamples=resamples, seed=seed
            )
            comparisons.append(Comparison(task, "spearman", *values))
            continue
        for name in a:
            if name in b:
                x, y = a[name].astype(float), b[name].astype(float)
                values = paired_bootstrap(x, y, resamples=resamples, seed=seed)
                comparisons.append(Comparison(task, name.replace("correct", "accuracy"), *values))
    if not comparisons:
        raise UsageError(
            f"{first.label} and {second.label} share no task with per-example values; score both"
        )
    return comparisons
