"""The answer in ten lines: what helps, by how much, how sure, and what it is worth beside no training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document.conclusions import Judged, counted
from benchmarks.reproduce.document.primary import SIGNIFICANT, Finding
from benchmarks.reproduce.document.scores import NO_TRAINING
from benchmarks.reproduce.document.sweeps import agrees_on_best
from benchmarks.reproduce.document.together import Together
from benchmarks.reproduce.entries import Row
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import interval

_NOT_SIGNIFICANT = "Not significant after Holm's correction"
_LEAST_OF_ONE_SEED = 1.0  # points by which a row with a single seed is ahead before it is named
_MOST_NAMED = 4  # exploratory rows; the table has all
_FEWEST_SWEEPS = 3  # before they are summed up


def lines(
    grid: Grid,
    rows: Sequence[Row],
    scores: Scores,
    findings: Sequence[Finding],
    found: Sequence[Judged],
    both: Sequence[Together] = (),
    again: Sequence[Finding] = (),
) -> list[str]:
    """A list of at most ten items."""
    items = [
        *_of_training(rows, scores),
        *_of_findings(grid, findings),
        *_of_fresh(findings, again),
        *_of_both(grid, both),
        *_of_untrained(grid, rows, scores),
        *_exploratory(grid, rows, scores),
        *_of_sweeps(grid, scores),
    ]
    if found:
        items.append(f"Of the papers' {len(found)} conclusions, one by one below: {counted(found)}.")
    return [*(f"- {item}" for item in items), ""]


def _of_training(rows: Sequence[Row], scores: Scores) -> list[str]:
    """What the rows gain whose baseline is the starting encoder: whether the bed can answer at all."""
    start = _average(scores, NO_TRAINING)
    gains = []
    for row in rows:
        values = comparisons.values_of(scores, row.name, "average")
        if row.first and row.baseline == NO_TRAINING and row.has_seed and values and start is not None:
            gains.append(f"{row.title}, {_told([value - start for value in values.values()])}")
    return [f"**Training against none** (STS average {start:.2f}): {'; '.join(gains)}."] if gains else []


def _told(differences: Sequence[float]) -> str:
    found = interval(differences)
    ends = "" if math.isnan(found.low) else f" ({found.low:+.2f} to {found.high:+.2f})"
    return f"{found.mean:+.2f}{ends}, {found.seeds} seed{'s' * (found.seeds > 1)}"


def _of_findings(grid: Grid, findings: Sequence[Finding]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for one in findings:
        name = _compared(grid, one)
        value = one.difference
        if value is None:
            groups.setdefault("Not measured yet", []).append(name)
            continue
        if math.isnan(one.adjusted):
            group = "Too few seeds to say"
        elif one.adjusted > SIGNIFICANT:
            group = _NOT_SIGNIFICANT
        else:
            group = "Helps" if value.mean > 0 else "Hurts"
        told = group != _NOT_SIGNIFICANT and not math.isnan(value.low)
        ends = f" ({value.low:+.2f} to {value.high:+.2f})" if told else ""
        groups.setdefault(group, []).append(f"{name} {value.mean:+.2f}{ends}")
    order = ("Helps", "Hurts", _NOT_SIGNIFICANT, "Too few seeds to say", "Not measured yet")
    return [f"**{group}**: {'; '.join(groups[group])}." for group in order if group in groups]


def _compared(grid: Grid, one: Finding | Together) -> str:
    return f"{grid.row(one.primary.better).title} over {grid.row(one.primary.worse).title}"


def _of_fresh(findings: Sequence[Finding], again: Sequence[Finding]) -> list[str]:
    """What became of what helps here with seeds and a bed that nobody had seen."""
    once_more = {(one.primary.better, one.primary.worse): one for one in again}
    known = []
    for one in findings:
        found = once_more.get((one.primary.better, one.primary.worse))
        helps = one.difference is not None and one.difference.mean > 0 and one.adjusted <= SIGNIFICANT
        if helps and found and found.difference:
            known.append((found.difference.mean, found.adjusted))
    if not known:
        return []
    means = [value for value, _ in known]
    significant = sum(adjusted <= SIGNIFICANT for _, adjusted in known)
    return [
        "**The same with fresh seeds on a second bed** ([evidence-fresh.md](evidence-fresh.md)): of the "
        f"{len(known)} that help, {sum(value > 0 for value in means)} have the same sign "
        f"({min(means):+.2f} to {max(means):+.2f}), and {significant or 'none'} is significant there after "
        "Holm's correction."
    ]


def _of_both(grid: Grid, both: Sequence[Together]) -> list[str]:
    """What the trainings of two beds say together."""
    if not both:
        return []
    groups: dict[str, list[str]] = {"above": [], "around": [], "below": []}
    for one in both:
        value = one.difference
        side = "above" if value.low > 0 else "below" if value.high < 0 else "around"
        ends = f"({value.low:+.2f} to {value.high:+.2f})"
        groups[side].append(f"{_compared(grid, one)} {value.mean:+.2f} {ends}")
    where = "[below](#both-beds-together), an estimate, not a test"
    return [
        f"**Over both beds, interval {side} zero** ({where}): {', '.join(names)}."
        for side, names in groups.items()
        if names
    ]


def _of_untrained(grid: Grid, rows: Sequence[Row], scores: Scores) -> list[str]:
    """The best that needs no training from the same encoder, and the ceiling beside it."""
    # Rows that are in no table count here too.
    untrained = [row for row in grid.rows if not row.has_seed and not row.encoder and row.name in scores]
    trained = [row for row in rows if row.has_seed and _average(scores, row.name) is not None]
    known = {row.title: value for row in untrained if (value := _average(scores, row.name)) is not None}
    if len(known) < 2:  # no training alone, from which all rows start
        return []
    title = max(known, key=lambda one: known[one])
    above = sum((_average(scores, row.name) or 0.0) > known[title] for row in trained)
    said = f"{above or 'none'} of the {len(trained)} trained rows {'are' if above > 1 else 'is'} above it"
    items = [f"**The best that needs no training**: {title}, {known[title]:.2f}; {said}."]
    ceiling = [
        f"{row.title} {value:.2f}"
        for row in rows
        if row.encoder and (value := _average(scores, row.name)) is not None
    ]
    return items + ([f"**The ceiling**: {', '.join(ceiling)}."] if ceiling else [])


def _exploratory(grid: Grid, rows: Sequence[Row], scores: Scores) -> list[str]:
    """The largest gains that no primary comparison is about; named, not tested."""
    primary = {(one.better, one.worse) for one in grid.primary}
    gains = []
    for row in rows:
        apart = row.recipe and row.baseline and row.baseline != NO_TRAINING and not row.sweep
        if not apart or (row.name, row.baseline) in primary:
            continue
        gap = comparisons.difference(scores, row.name, row.baseline, "average")
        if gap is not None and (gap.low > 0 or (gap.seeds == 1 and gap.mean >= _LEAST_OF_ONE_SEED)):
            seeds = f"{gap.seeds} seed{'s' * (gap.seeds > 1)}"
            gains.append((gap.mean, f"{row.title} {gap.mean:+.2f} ({seeds})"))
    gains.sort(reverse=True)
    named = "; ".join(text for _, text in gains[:_MOST_NAMED])
    return [f"**Largest exploratory gains over baselines**: {named}."] if gains else []


def _of_sweeps(grid: Grid, scores: Scores) -> list[str]:
    """How often the value that a paper found best is the best one here."""
    found = {
        sweep.title: agrees for sweep in grid.sweeps if (agrees := agrees_on_best(sweep, scores)) is not None
    }
    if len(found) < _FEWEST_SWEEPS:
        return []
    same = [title for title, agrees in found.items() if agrees]
    which = f" ({'; '.join(same)})" if same else ""
    return [
        f"**Sweeps**: of {len(found)} whose best value a paper names, {len(same) or 'none'} "
        f"{'have' if len(same) != 1 else 'has'} it here too{which}."
    ]


def _average(scores: Scores, row: str) -> float | None:
    values = comparisons.values_of(scores, row, "average")
    return mean(values.values()) if values else None
