"""The papers' differences over the test sets that were scored here.

A paper's average is over seven sets of STS, and a data folder may have five of them. Which sets they are
decides much: double negation as the positive loses 0.41 points over seven and gains 1.19 over STS-B and STS12
to STS15. So a difference is taken over the sets that were scored here, where the paper prints its columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TypeVar

from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document.scores import scored_tasks
from benchmarks.reproduce.entries import Claim, Primary, Profile, Row
from benchmarks.reproduce.grid import Grid

OTHER_SETS = "over all test sets of the paper"
_EVALUATIONS = {"average": "sts"}  # measures that are not called as the evaluation is
_Comparison = TypeVar("_Comparison", Claim, Primary)


def like_for_like(grid: Grid, profile: Profile, scores: Scores) -> Grid:
    """The grid with published differences over the test sets that have scores."""
    # Where a paper prints no columns, the difference stays as it is, and its note says so.
    tasks = {measure: _tasks(grid, profile, scores, measure) for measure in _averaged(grid)}
    rows = tuple(_of_row(grid, row, tasks) for row in grid.rows)
    claims = tuple(_of_comparison(grid, one, tasks) for one in grid.claims)
    primary = tuple(_of_comparison(grid, one, tasks) for one in grid.primary)
    return dataclasses.replace(grid, rows=rows, claims=claims, primary=primary)


def difference(grid: Grid, on: Sequence[str], tasks: Sequence[str]) -> float | None:
    """A paper's row minus its baseline, averaged over some test sets; None where it does not print them."""
    if not on or not tasks:
        return None
    better, worse = (grid.columns[name] for name in on)
    shared = [task for task in tasks if task in better and task in worse]
    return mean(better[task] - worse[task] for task in shared) if len(shared) == len(tasks) else None


def _averaged(grid: Grid) -> list[str]:
    """The measures that are means over several test sets."""
    names = {evaluation: measure for measure, evaluation in _EVALUATIONS.items()}
    return [names.get(name, name) for name, item in grid.evaluations.items() if len(item.tasks) > 1]


def _tasks(grid: Grid, profile: Profile, scores: Scores, measure: str) -> tuple[str, ...]:
    return scored_tasks(grid, profile, scores, _EVALUATIONS.get(measure, measure))


def _of_row(grid: Grid, row: Row, tasks: Mapping[str, tuple[str, ...]]) -> Row:
    item = row.published
    if item is None or item.measure not in tasks:
        return row
    alike = difference(grid, item.on, tasks[item.measure])
    published = dataclasses.replace(item, alike=alike, sets="" if alike is not None else OTHER_SETS)
    return dataclasses.replace(row, published=published)


def _of_comparison(grid: Grid, one: _Comparison, tasks: Mapping[str, tuple[str, ...]]) -> _Comparison:
    if not one.published or one.measure not in tasks:
        return one
    alike = difference(grid, one.on, tasks[one.measure])
    if alike is None:
        return dataclasses.replace(one, note="; ".join(filter(None, (one.note, OTHER_SETS))))
    return dataclasses.replace(one, published=round(alike, 2))
