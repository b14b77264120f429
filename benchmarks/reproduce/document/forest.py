"""The one picture: each primary comparison with its interval, and the paper's difference beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reproduce.document.primary import Finding
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import FEWEST_SEEDS

_MARGIN = 0.8  # points


def draw_forest(findings: Sequence[Finding], grid: Grid, path: Path) -> bool:
    """Draw what was measured; returns whether there was anything."""
    measured = [(one.primary, one.difference) for one in findings if one.difference is not None]
    if not measured:
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    titles = {row.name: row.title for row in grid.rows}
    figure = Figure(figsize=(9, 1.1 + 0.34 * len(measured)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for place, (primary, value) in enumerate(reversed(measured)):
        axes.plot(primary.published, place, "kx", label="the paper's difference" if not place else None)
        label = "here, 95 % interval over seeds" if not place else None
        if math.isnan(value.low):
            axes.plot(value.mean, place, "o", color="tab:blue", mfc="white", label=label)
        else:
            ends = [[value.mean - value.low], [value.high - value.mean]]
            axes.errorbar(value.mean, place, xerr=ends, fmt="o", color="tab:blue", capsize=3, label=label)
    names = [f"{titles[one.better]} – {titles[one.worse]} ({value.seeds})" for one, value in measured]
    axes.set_yticks(range(len(measured)), list(reversed(names)), fontsize=8)
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    shown = [end for one, value in measured for end in (one.published, value.mean)]
    # With two seeds an interval may be ten times as wide as all else: it then leaves the picture.
    shown += [end for _, value in measured if value.seeds >= FEWEST_SEEDS for end in (value.low, value.high)]
    axes.set_xlim(min(0, *shown) - _MARGIN, max(0, *shown) + _MARGIN)
    axes.set_xlabel("points of STS average (in brackets: seeds; hollow: a single one)", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    figure.legend(fontsize=8, ncols=2, loc="outside lower center")
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return True
