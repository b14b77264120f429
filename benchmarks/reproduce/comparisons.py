"""Differences between rows, the noise of the seeds, and what the two say about a paper's conclusion."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev

Scores = dict[str, dict[int, dict[str, float]]]  # row, seed, measure: points (fractions × 100)

_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Difference:
    """One row minus another, in points.

    Attributes
    ----------
    mean : float
        Over the seeds both rows have; a row without seeds counts with each.
    sd : float
        Sample standard deviation of the difference; NaN with one seed.
    seeds : int
        How many.
    """

    mean: float
    sd: float
    seeds: int


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and sample standard deviation, which is NaN for one value."""
    return mean(values), stdev(values) if len(values) > 1 else math.nan


def values_of(scores: Scores, row: str, measure: str) -> dict[int, float]:
    """A row's measure by seed, where it was measured."""
    return {seed: measures[measure] for seed, measures in scores.get(row, {}).items() if measure in measures}


def difference(
    scores: Scores, row: str, other: str, measure: str, seedless: frozenset[str] = frozenset()
) -> Difference | None:
    """Compare two rows seed by seed.

    Parameters
    ----------
    seedless : frozenset of str
        Rows that are the same whatever the seed.

    Returns
    -------
    Difference or None
        None where they have no seed in common.
    """
    first, second = values_of(scores, row, measure), values_of(scores, other, measure)
    if other in seedless and second:
        second = dict.fromkeys(first, next(iter(second.values())))
    if row in seedless and first:
        first = dict.fromkeys(second, next(iter(first.values())))
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    center, deviation = spread([first[seed] - second[seed] for seed in common])
    return Difference(center, deviation, len(common))


def shared(scores: Scores, rows: Iterable[str]) -> Scores:
    """The rows that were measured, each with the seeds that all of them have: only those compare as means."""
    measured = {row: scores[row] for row in rows if row in scores}
    seeds = set.intersection(*(set(of_row) for of_row in measured.values())) if measured else set()
    return {row: {seed: of_row[seed] for seed in sorted(seeds)} for row, of_row in measured.items() if seeds}


def noise(
    scores: Scores, pairs: Iterable[tuple[str, str]], measure: str, seedless: frozenset[str] = frozenset()
) -> float:
    """Standard deviation of a difference over the seeds, pooled over pairs of rows; NaN if none has two.

    Rows of one seed see the same batches, so what a seed adds to both is not noise in their difference.
    """
    squares, freedom = 0.0, 0
    for first, second in pairs:
        gap = difference(scores, first, second, measure, seedless)
        if gap and gap.seeds > 1:
            squares += (gap.seeds - 1) * gap.sd**2
            freedom += gap.seeds - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


def threshold(gap: Difference, sd: float) -> float:
    """The least difference that is not taken for noise, in points: 2 · s / √seeds.

    Parameters
    ----------
    sd : float
        Pooled standard deviation (see `noise`). A difference that varies more counts with its own.
    """
    own = gap.sd if gap.seeds > 1 else sd
    return _STANDARD_ERRORS * max(sd, own) / math.sqrt(gap.seeds)


def verdict(gap: Difference | None, sd: float, published: float, *, alike: bool = False) -> str:
    """What a difference says of a published one.

    Parameters
    ----------
    gap : Difference or None
        Measured here; None where it was not.
    sd : float
        Pooled standard deviation of such differences, in points; NaN where unknown.
    published : float
        The paper's difference; only its sign matters, and 0 stands for one above 0 that has no number.
    alike : bool
        Whether it is claimed instead that there is no difference.

    Returns
    -------
    str
        `holds`, `reversed`, `within noise`, `noise unknown` or `not measured`.
    """
    if gap is None:
        return "not measured"
    if math.isnan(sd):
        return "noise unknown"
    if abs(gap.mean) < threshold(gap, sd):
        return "holds" if alike else "within noise"
    if alike:
        return "reversed"
    return "holds" if (gap.mean > 0) == (published >= 0) else "reversed"
