"""The primary comparisons over the trainings of two beds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from benchmarks.reproduce.comparisons import Scores, differences
from benchmarks.reproduce.document import wording
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import Interval, interval


@dataclass(frozen=True)
class Together:
    """A primary comparison over two beds."""

    primary: Primary  # the comparison
    beds: tuple[float, float]  # mean difference on the other bed and on this one, in points
    difference: Interval  # over the seeds of both


def findings(grid: Grid, other: Scores, scores: Scores) -> list[Together]:
    """The primary comparisons that both beds have, in the grid's order."""
    found = []
    for one in grid.primary:
        there, here = (differences(of, one.better, one.worse, "average") for of in (other, scores))
        if there and here:
            found.append(Together(one, (mean(there), mean(here)), interval([*there, *here])))
    return found


def section(grid: Grid, found: Sequence[Together]) -> list[str]:
    """The lines of the document's section; none where there is no other bed."""
    if not found:
        return []
    lines = [wording.TOGETHER]
    for one in found:
        value = one.difference
        titles = [grid.row(name).title for name in (one.primary.better, one.primary.worse)]
        means = [f"{center:+.2f}" for center in (one.primary.published, *one.beds)]
        both = f"{value.mean:+.2f} ({value.low:+.2f} to {value.high:+.2f})"
        lines.append(f"| {' | '.join([*titles, *means, both, str(value.seeds)])} |")
    return [*lines, ""]
