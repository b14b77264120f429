"""Differences between rows, the noise of the seeds, and what the two say about a paper's conclusion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import mean, stdev

Scores = dict[str, dict[int, dict[str, float]]]  # row, seed, measure: points (fractions × 100)

# Both rows have noise of their own, and the mean of n seeds has 1/√n of it.
_SIGMAS = 2.0


@dataclass(frozen=True)
class Difference:
    """One row minus another, in points.

    Attributes
    ----------
    mean
        Over the seeds both rows have; a row without seeds counts with each.
    sd
        Sample standard deviation of the difference; NaN with one seed.
    seeds
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
    return {seed: found[measure] for seed, found in scores.get(row, {}).items() if measure in found}


def difference(
    scores: Scores, row: str, other: str, measure: str, seedless: frozenset[str] = frozenset()
) -> Difference | None:
    """Compare two rows seed by seed.

    Parameters
    ----------
    seedless
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


def noise(scores: Scores, measure: str) -> float:
    """Standard deviation between seeds of a row, pooled over the rows that have several; NaN without any."""
    squares, freedom = 0.0, 0
    for row in scores:
        values = list(values_of(scores, row, measure).values())
        if len(values) > 1:
            squares += (len(values) - 1) * stdev(values) ** 2
            freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


def threshold(sd: float, seeds: int) -> float:
    """The least difference of two means that is not taken for noise, in points: 2 · sd · √(2 / seeds)."""
    return _SIGMAS * sd * math.sqrt(2 / seeds)


def verdict(found: Difference | None, sd: float, published: float) -> str:
    """What a difference says of a published one.

    Parameters
    ----------
    found
        Measured here; None where it was not.
    sd
        Noise of one seed, in points; NaN where unknown.
    published
        The paper's difference; only its sign matters, and 0 stands for one above 0 that has no number.

    Returns
    -------
    str
        `holds`, `reversed`, `within noise`, `noise unknown` or `not measured`.
    """
    if found is None:
        return "not measured"
    if math.isnan(sd):
        return "noise unknown"
    if abs(found.mean) < threshold(sd, found.seeds):
        return "within noise"
    return "holds" if (found.mean > 0) == (published >= 0) else "reversed"
