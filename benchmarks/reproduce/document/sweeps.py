"""The sweeps in a line each; the picture has the curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean

from scipy.stats import spearmanr

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document import wording
from benchmarks.reproduce.document.scores import signed
from benchmarks.reproduce.entries import Sweep
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import FEWEST_SEEDS, Interval

_LEAST_RANKED = 8  # points; fewer agree with any order too easily
_SAME_STEPS = 0.05  # shares of the steps by which trainings that are compared may differ


def section(grid: Grid, scores: Scores, pictures: Sequence[str]) -> list[str]:
    """The lines of the document's section; empty where no sweep has two points."""
    known = [sweep for sweep in grid.sweeps if len(points_of(sweep, scores)) > 1]
    if not known:
        return []
    lines = [wording.SWEEPS]
    lines += [f"![Sweeps]({picture})" for picture in pictures] + ([""] if pictures else [])
    return [*lines, *(f"- {line(sweep, scores)}" for sweep in known), ""]


def points_of(sweep: Sweep, scores: Scores) -> Scores:
    """The points that were measured, over the seeds that all of them have."""
    return comparisons.shared(scores, [sweep.point(value) for value in sweep.values])


def _steps(points: Scores, name: str) -> float:
    """How many steps a point was trained for, on average over its seeds; NaN where that was not noted."""
    return mean([one.get("steps", math.nan) for one in points.get(name, {}).values()] or [math.nan])


def _agreement(sweep: Sweep, points: Scores) -> float | None:
    """Rank correlation of the points' scores on STS-B dev with the paper's; None where too few are alike."""
    # Where training made the encoder worse, where it ended counts, or all such points were equal.
    if not sweep.published:
        return None
    steps = _steps(points, sweep.point(sweep.reference))
    pairs = []
    for value, published in zip(sweep.values, sweep.published, strict=True):
        name = sweep.point(value)
        scored = comparisons.values_of(points, name, "dev") | comparisons.values_of(points, name, "last")
        if scored and not abs(_steps(points, name) - steps) > _SAME_STEPS * steps:
            pairs.append((published, mean(scored.values())))
    return float(spearmanr(*zip(*pairs, strict=True)).statistic) if len(pairs) >= _LEAST_RANKED else None


def agrees_on_best(sweep: Sweep, scores: Scores) -> bool | None:
    """Whether the value that the paper found best has the best mean on STS-B dev here; None if unknown."""
    # A point trained for more or fewer steps than the paper's best does not count.
    points = points_of(sweep, scores)
    if not (sweep.published or sweep.best is not None) or sweep.point(sweep.reference) not in points:
        return None
    steps = _steps(points, sweep.point(sweep.reference))
    means = {
        value: mean(scored.values())
        for value in sweep.values
        if (scored := comparisons.values_of(points, sweep.point(value), "dev"))
        and not abs(_steps(points, sweep.point(value)) - steps) > _SAME_STEPS * steps
    }
    return max(means, key=lambda value: means[value]) == sweep.reference if len(means) > 2 else None


def _mark(sweep: Sweep, number: int, gap: Interval) -> str:
    """Whether a point's difference to the reference excludes zero, and contradicts the paper."""
    if gap.seeds < FEWEST_SEEDS or gap.low <= 0 <= gap.high:
        return ""
    if not sweep.published and sweep.best is None:
        return "*"
    # Where the paper claims that the reference is best, every other value should be lower.
    higher = sweep.published[number] - max(sweep.published) if sweep.published else 0.0
    return "*" if (gap.mean > 0) == (higher > 0) else "†"


def _ended(points: Scores, name: str) -> str:
    """Where training ended that made the encoder worse, on average over such seeds; else empty."""
    ends = comparisons.values_of(points, name, "last").values()
    return f" (start; ended at {mean(ends):.1f})" if ends else ""


def line(sweep: Sweep, scores: Scores) -> str:
    """What a sweep says: each value's difference to the reference on STS-B dev, marked where it counts."""
    points = points_of(sweep, scores)
    reference = sweep.reference
    of_reference = _steps(points, sweep.point(reference))
    claimed = bool(sweep.published) or sweep.best is not None
    words, unlike = [], ""
    for number, value in enumerate(sweep.values):
        name = sweep.point(value)
        gap = comparisons.difference(points, name, sweep.point(reference), "dev")
        if value == reference or gap is None:
            continue
        own = _steps(points, name)
        if abs(own - of_reference) > _SAME_STEPS * of_reference:
            unlike = f", {of_reference:.0f} steps"
            mark = f" ({own:.0f} step{'s' * (own != 1)})"
        else:
            mark = _mark(sweep, number, gap)
        words.append(f"{value} {signed(gap.mean, gap.sd)}{mark}{_ended(points, name)}")
    seeds = len(next(iter(points.values())))
    best = f"{reference} is {'the best in the paper' if claimed else 'compared with'}{unlike}"
    best += _ended(points, sweep.point(reference))
    note = f" {sweep.note[0].upper()}{sweep.note[1:]}." if sweep.note else ""
    if (order := _agreement(sweep, points)) is not None:
        note += f" Spearman's ρ of where training ended with the paper's order: {order:+.2f}."
    scored = {value for value in sweep.values if comparisons.values_of(points, sweep.point(value), "dev")}
    absent = [str(value) for value in sweep.values if value not in scored]
    missing = f" Missing: {', '.join(absent)}." if absent else ""
    counted = "1 seed" if seeds == 1 else f"{seeds} seeds"
    return f"**{sweep.title}** ({best}; {counted}): {', '.join(words)}.{note}{missing}"
