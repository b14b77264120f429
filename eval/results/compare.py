"""Two encoders compared: a paired bootstrap over examples (Efron; Koehn 2004), else a test over seeds."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, ttest_ind, ttest_rel

from augment_cli.errors import BadInputError, UsageError
from augment_cli.reports.verdicts import wilson
from eval.results import RESAMPLES, ModelResults, StoredScore, check_same_data, read_items

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


_MOST_RESAMPLES = 1_000_000
_BLOCK = 200  # resamples ranked at once


@dataclass(frozen=True)
class Comparison:
    """The difference of two encoders on one task, first minus second."""

    # task, and what is compared (`spearman`, a mean of correctness per example, or the main score over
    # seeds, runs or folds)
    task: str
    statistic: str
    first: float  # the statistic of each
    second: float
    # percentile interval of the difference that holds 95 % of the resamples; over seeds Student's interval,
    # NaN where there are none to tell it from
    low: float
    high: float
    # two-sided: twice the smaller share of resamples on one side of zero, at most 1 (one is added to each
    # count, so it is never 0); over seeds that of the t-test
    p: float

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second

    def in_points(self, unknown: str, no_p: str) -> tuple[str, ...]:
        """Task, statistic, both values, difference, its interval and p, in points, as they are printed."""
        interval = unknown if math.isnan(self.low) else f"{100 * self.low:+.2f} to {100 * self.high:+.2f}"
        numbers = (f"{100 * value:.2f}" for value in (self.first, self.second, self.difference))
        return self.task, self.statistic, *numbers, interval, no_p if math.isnan(self.p) else f"{self.p:.4f}"


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
    """Resample the examples, the same for both, and look at the difference."""
    # first, second: values of the two encoders on the same n examples: similarities where `gold` is given,
    # where the statistic is Spearman, else correctness in [0, 1] (the statistic is the mean).
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


def gain_interval(
    first: np.ndarray, second: np.ndarray, gold: np.ndarray | None = None
) -> tuple[float, float, float]:
    """How far the first is ahead of the second, and the 95 % interval of `paired_bootstrap`."""
    a, b, low, high, _ = paired_bootstrap(first, second, gold)
    return a - b, low, high


def by_seeds(task: str, first: Sequence[StoredScore], second: Sequence[StoredScore]) -> Comparison:
    """The main score of a task without values per example, over seeds, or the runs of a single one."""
    # As many seeds, or runs of one protocol, on both sides are taken as pairs (the same folds, the same
    # draws); else the test is Welch's. With a single value on a side there is a difference and no interval.
    several = len(first) > 1 or len(second) > 1
    a, b = (
        np.array([one.main for one in side] if several else side[0].runs or [side[0].main], float)
        for side in (first, second)
    )
    kind = "seeds" if several else "runs"
    name = f"main score, {len(a)} {kind}" if len(a) == len(b) else f"main score, {len(a)} and {len(b)} {kind}"
    low = high = p = math.nan
    if len(a) > 1 and len(b) > 1:
        paired = len(a) == len(b)
        if (paired and np.ptp(a - b) == 0) or (
            not paired and np.ptp(a) == np.ptp(b) == 0
        ):  # no spread to test with
            low = high = float(a.mean() - b.mean())
            p = 1.0 if low == 0 else math.nan
        else:
            test = ttest_rel(a, b) if paired else ttest_ind(a, b, equal_var=False)
            low, high = map(float, test.confidence_interval(0.95))
            p = float(test.pvalue)
    return Comparison(task, name, float(a.mean()), float(b.mean()), low, high, p)


def compare(
    first: ModelResults | Sequence[ModelResults],
    second: ModelResults | Sequence[ModelResults],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Compare two encoders on every task that both were scored on."""
    ours, theirs = ([one] if isinstance(one, ModelResults) else list(one) for one in (first, second))
    comparisons = []
    for task in ours[0].tasks:
        scored = [[one.tasks[task] for one in side if task in one.tasks] for side in (ours, theirs)]
        if not scored[1]:
            continue
        check_same_data(task, [*ours, *theirs])
        found = []
        if len(ours) == len(theirs) == 1:
            found = _by_examples(task, ours[0], theirs[0], resamples, seed)
        comparisons += found or [by_seeds(task, *scored)]
    if not comparisons:
        raise UsageError(f"{ours[0].label} and {theirs[0].label} share no task; score both on the same tasks")
    return comparisons


def in_words(comparisons: Sequence[Comparison], first: str, second: str, titles: Mapping[str, str]) -> str:
    """All differences in one sentence, in points, each with its 95 % interval where that is known."""
    differences = []
    for one in comparisons:
        interval = "" if math.isnan(one.low) else f" ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
        name, _, examples = one.statistic.partition("_")
        shots = f", {examples} a class" if name == "accuracy" and examples else ""
        differences.append(f"{titles[one.task]}{shots} {100 * one.difference:+.1f}{interval}")
    ahead, behind = (sum(one.low > 0 for one in comparisons), sum(one.high < 0 for one in comparisons))
    return (
        f"{first} minus {second}, in points: {'; '.join(differences)}. "
        f"Ahead beyond the 95 % interval in {ahead} of {len(comparisons)}, behind in {behind}."
    )


def _by_examples(
    task: str, first: ModelResults, second: ModelResults, resamples: int, seed: int
) -> list[Comparison]:
    """The comparisons of a task by its values per example; none where one has none."""
    a, b = read_items(first.folder, task), read_items(second.folder, task)
    if "gold" in a and "gold" in b:
        if not np.array_equal(a["gold"], b["gold"]):
            raise BadInputError(f"{task}: the two models were scored on different pairs; score both again")
        values = paired_bootstrap(a["similarity"], b["similarity"], a["gold"], resamples=resamples, seed=seed)
        return [Comparison(task, "spearman", *values)]
    comparisons = []
    for name in a:
        if name in b:
            x, y = a[name].astype(float), b[name].astype(float)
            values = paired_bootstrap(x, y, resamples=resamples, seed=seed)
            comparisons.append(Comparison(task, name.replace("correct", "accuracy"), *values))
    return comparisons
