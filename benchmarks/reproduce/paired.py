"""What a reviewer asks of a difference: interval over seeds, Holm's correction, noise of the test sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np
from scipy.stats import t as student

from augment_cli.errors import UsageError
from eval.results.compare import spearman_rows

LEVEL = 0.95
FEWEST_SEEDS = 3  # of an interval over seeds that is worth drawing: with two it is 18 times the deviation
CONCLUSIONS = (
    "holds",
    "same sign, much smaller",
    "reversed",
    "not significant",
    "same sign, too few seeds",
    "other sign, too few seeds",
    "start not beaten",
    "not measured",
)
MUCH_SMALLER = 1 / 3  # of the paper's difference; below it the order of size is another
_BLOCK = 100  # resamples ranked at once


@dataclass(frozen=True)
class Interval:
    """The mean of paired differences, in points."""

    mean: float  # over the seeds
    sd: float  # the sample's standard deviation; NaN with one seed
    low: float  # lower end of Student's interval with n − 1 degrees of freedom; NaN with one seed
    high: float  # its upper end
    p: float  # two-sided, of the mean being zero; NaN with one seed
    seeds: int  # n


def interval(differences: Sequence[float], level: float = LEVEL) -> Interval:
    """Student's paired interval."""
    n = len(differences)
    if not n:
        raise UsageError("an interval needs at least one seed that both rows have")
    center = mean(differences)
    if n == 1:
        return Interval(center, math.nan, math.nan, math.nan, math.nan, 1)
    sd = stdev(differences)
    error = sd / math.sqrt(n)
    if not error:  # seeds that agree to the last digit: no noise, or nothing that a seed could change
        return Interval(center, 0.0, center, center, 0.0 if center else 1.0, n)
    half = float(student.ppf((1 + level) / 2, n - 1)) * error
    p = 2 * float(student.sf(abs(center) / error, n - 1))
    return Interval(center, sd, center - half, center + half, p, n)


def sign_flip(differences: Sequence[float]) -> float:
    """Exact two-sided p-value of a mean of zero, over all signs that the differences could have had."""
    # With n differences it is at least 2 / 2ⁿ: 0.0625 with five.
    signs = np.array(list(itertools.product((1, -1), repeat=len(differences))))
    means = np.abs(signs @ np.asarray(differences))
    return float((means >= abs(sum(differences)) - 1e-12).mean())


def resampled(differences: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Percentile interval of the mean, over every way to draw as many of the differences with replacement."""
    drawn = np.array(list(itertools.product(differences, repeat=len(differences)))).mean(axis=1)
    low, high = np.percentile(drawn, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given; a NaN stays one and still counts as a comparison."""
    # Source: Holm 1979. The smallest of m is multiplied by m, the next by m − 1, and so on; none may be
    # below the one before it, nor above 1. Rejecting what is below α errs anywhere with probability α at
    # most, whatever the comparisons have to do with each other.
    m = len(p_values)
    measured = [index for index in range(m) if not math.isnan(p_values[index])]
    order = sorted(measured, key=lambda index: p_values[index])
    adjusted, highest = [math.nan] * m, 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (m - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def p_shown(adjusted: float) -> str:
    """A p-value as tables have it."""
    if math.isnan(adjusted):
        return "–"
    return f"{adjusted:.3f}" if adjusted >= 0.001 else "< 0.001"


def verdict(difference: Interval, adjusted: float, published: float, level: float = LEVEL) -> str:
    """What a primary comparison says of the paper's difference."""
    if math.isnan(adjusted):
        return "too few seeds"
    if adjusted > 1 - level:
        return "not significant"
    if difference.mean * published < 0:
        return "reversed"
    return _of_size(difference, published)


def conclusion(difference: Interval | None, published: float) -> str:
    """What an exploratory difference says of a published one."""
    if difference is None:
        return "not measured"
    same = difference.mean * (published or 1) > 0
    if difference.seeds < FEWEST_SEEDS:
        return f"{'same' if same else 'other'} sign, too few seeds"
    if difference.low <= 0 <= difference.high:
        return "not significant"
    if not same:
        return "reversed"
    return _of_size(difference, published)


def _of_size(difference: Interval, published: float) -> str:
    """What is said of a difference that is there, and has the paper's sign."""
    return "holds" if abs(difference.mean) >= MUCH_SMALLER * abs(published) else "same sign, much smaller"


def bootstrap(
    better: Sequence[Mapping[str, np.ndarray]],
    worse: Sequence[Mapping[str, np.ndarray]],
    gold: Mapping[str, np.ndarray],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Interval of the difference of two rows' averages over other test sentences of the same kind."""
    # The pairs of each test set are drawn anew with replacement, the same for both rows and all seeds; each
    # set's Spearman, their average, and the mean over seeds follow. The seeds stay as they are, so this is
    # the noise that the seeds' interval does not see.
    # better: sequence of mapping of str to numpy.ndarray; For each seed the similarities (n,) of the better
    # row by test set.
    # worse: sequence of mapping of str to numpy.ndarray; Those of the other row, matching seeds at matching
    # places.
    # gold: mapping of str to numpy.ndarray; Gold similarities (n,) by test set.
    if len(better) != len(worse) or not better:
        raise UsageError("a bootstrap needs the same seeds of both rows, and one at least")
    generator = np.random.default_rng(seed)
    drawn = np.zeros(resamples)
    for name in sorted(gold):
        target = gold[name]
        for start in range(0, resamples, _BLOCK):
            block = slice(start, min(start + _BLOCK, resamples))
            rows = generator.integers(0, len(target), size=(block.stop - block.start, len(target)))
            for first, second in zip(better, worse, strict=True):
                of_first = spearman_rows(first[name][rows], target[rows])
                drawn[block] += of_first - spearman_rows(second[name][rows], target[rows])
    drawn *= 100 / (len(gold) * len(better))
    low, high = np.percentile(drawn, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)
