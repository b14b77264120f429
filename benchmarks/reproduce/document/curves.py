"""The sweeps as pictures, with the paper's values beside those measured.

Numbers are points on a curve of differences to the paper's best value; names, such as those of augmentations,
are lines of dots below each other, with the scores themselves.
"""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document.scores import NO_TRAINING
from benchmarks.reproduce.entries import Sweep
from benchmarks.reproduce.grid import Grid

_COLUMNS = 3


def draw_sweeps(grid: Grid, scores: Scores, path: Path) -> bool:
    """Draw one panel a sweep that has two points or more; returns whether there was any."""
    chosen = [sweep for sweep in grid.sweeps if len(_points(sweep, scores, "dev")) > 1]
    if not chosen:
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Those of names first, each as wide as the picture.
    named = [sweep for sweep in chosen if _has_names(sweep)]
    curves = [sweep for sweep in chosen if not _has_names(sweep)]
    rows = -(-len(curves) // _COLUMNS)
    heights = [0.22 * len(sweep.values) + 0.9 for sweep in named] + [3.2] * rows
    figure = Figure(figsize=(4.2 * _COLUMNS, sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    places = figure.add_gridspec(len(heights), _COLUMNS, height_ratios=heights)
    for number, sweep in enumerate(named):
        _dots(figure.add_subplot(places[number, :]), sweep, scores)
    for number, sweep in enumerate(curves):
        row, column = divmod(number, _COLUMNS)
        _panel(figure.add_subplot(places[len(named) + row, column]), sweep, scores)
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return True


def _has_names(sweep: Sweep) -> bool:
    return not sweep.labels and any(isinstance(value, str) for value in sweep.values)


def _dots(panel: Any, sweep: Sweep, scores: Scores) -> None:
    """A line for each name: STS-B dev, and where training ended; the paper's as crosses on the upper axis."""
    points = comparisons.shared(scores, [sweep.point(value) for value in sweep.values])
    for measure, filled, label in (
        ("dev", "tab:blue", "STS-B dev"),
        ("last", "white", "where training ended that made it worse"),
    ):
        known = [
            (mean(values.values()), number)
            for number, value in enumerate(sweep.values)
            if (values := comparisons.values_of(points, sweep.point(value), measure))
        ]
        if known:
            panel.plot(*zip(*known, strict=True), "o", color="tab:blue", mfc=filled, label=label)
    if start := comparisons.values_of(scores, NO_TRAINING, "dev"):
        panel.axvline(mean(start.values()), color="0.7", linewidth=0.8, zorder=0, label="no training")
    lines, names = panel.get_legend_handles_labels()
    if sweep.published:
        other = panel.twiny()
        line = other.plot(
            sweep.published,
            range(len(sweep.published)),
            "kx",
            markersize=4,
            label="paper's STS-B dev (above)",
        )
        lines, names = [*lines, *line], [*names, line[0].get_label()]
        other.tick_params(labelsize=8)
    panel.set_yticks(range(len(sweep.values)), [str(value) for value in sweep.values], fontsize=8)
    panel.invert_yaxis()
    panel.set_xlabel("STS-B dev", fontsize=8)
    panel.set_title(sweep.title, fontsize=9)
    panel.legend(lines, names, fontsize=7, loc="lower left")


def _points(sweep: Sweep, scores: Scores, measure: str) -> list[tuple[int, float, float]]:
    """Number of the value, mean difference to the reference, its deviation (0 with one seed); points."""
    names = [sweep.point(value) for value in sweep.values]
    of_shared_seeds = comparisons.shared(scores, names)
    points = []
    for number, name in enumerate(names):
        change = comparisons.difference(of_shared_seeds, name, sweep.point(sweep.reference), measure)
        if change is not None:
            points.append((number, change.mean, 0.0 if math.isnan(change.sd) else change.sd))
    return points


def _panel(panel: Any, sweep: Sweep, scores: Scores) -> None:
    for measure, title, marker in (("dev", "STS-B dev", "o"), ("average", "STS average", "s")):
        points = _points(sweep, scores, measure)
        if len(points) > 1:
            numbers, centers, sds = zip(*points, strict=True)
            panel.errorbar(numbers, centers, sds, marker=marker, capsize=3, label=title)
    panel.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    lines, names = panel.get_legend_handles_labels()
    if sweep.published:
        other = panel.twinx()
        changes = [value - max(sweep.published) for value in sweep.published]
        line = other.plot(range(len(changes)), changes, "k:", label="paper's STS-B dev (right)")
        lines, names = [*lines, *line], [*names, line[0].get_label()]
    names_of_values = [str(value) for value in sweep.labels or sweep.values]
    panel.set_ylabel(f"points above {names_of_values[sweep.values.index(sweep.reference)]}", fontsize=8)
    panel.set_title(textwrap.fill(sweep.title, 45), fontsize=9)
    panel.set_xticks(range(len(sweep.values)), names_of_values, fontsize=8)
    panel.legend(lines, names, fontsize=7)
