"""Scores by row, seed and measure, and the differences between rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import mean, stdev

from benchmarks.reproduce.paired import Interval, interval

Scores = dict[str, dict[int, dict[str, float]]]  # row, seed, measure: points (fractions × 100)


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and sample standard deviation, which is NaN for one value."""
    return mean(values), stdev(values) if len(values) > 1 else math.nan


def values_of(scores: Scores, row: str, measure: str) -> dict[int, float]:
    """A row's measure by seed, where it was measured."""
    return {seed: measures[measure] for seed, measures in scores.get(row, {}).items() if measure in measures}


def difference(
    scores: Scores, row: str, other: str, measure: str, seedless: frozenset[str] = frozenset()
) -> Interval | None:
    """Compare two rows seed by seed."""
    found = differences(scores, row, other, measure, seedless)
    return interval(found) if found else None


def differences(
    scores: Scores, row: str, other: str, measure: str, seedless: frozenset[str] = frozenset()
) -> list[float]:
    """One row minus another for each seed that both have, in the seeds' order; as in `difference`."""
    first, second = values_of(scores, row, measure), values_of(scores, other, measure)
    if other in seedless and second:
        second = dict.fromkeys(first, next(iter(second.values())))
    if row in seedless and first:
        first = dict.fromkeys(second, next(iter(first.values())))
    return [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]


def shared(scores: Scores, rows: Iterable[str]) -> Scores:
    """The rows that were measured, each with the seeds that all of them have: only those compare as means."""
    measured = {row: scores[row] for row in rows if row in scores}
    seeds = set.intersection(*(set(of_row) for of_row in measured.values())) if measured else set()
    return {row: {seed: of_row[seed] for seed in sorted(seeds)} for row, of_row in measured.items() if seeds}
