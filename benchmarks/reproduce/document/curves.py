"""The sweeps as curves: differences to the paper's best value, measured, and in the paper beside them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
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

    rows = -(-len(chosen) // _COLUMNS)
    figure = Figure(figsize=(4.2 * min(_COLUMNS, len(chosen)), 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, min(_COLUMNS, len(chosen)), squeeze=False).flatten()
    for panel, sweep in zip(panels, chosen, strict=False):
        _panel(panel, sweep, scores)
    for panel in panels[len(chosen) :]:
        panel.axis("off")
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return True


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
        if points:
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
    panel.set_title(sweep.title, fontsize=9)
    panel.set_xticks(range(len(sweep.values)), names_of_values, fontsize=8)
    panel.legend(lines, names, fontsize=7)
