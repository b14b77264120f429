"""VaSCL's figure 2: how many of a sentence's nearest neighbours are of its class, and how near they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.reproduce.comparisons import Scores, values_of
from benchmarks.reproduce.entries import Row

_COUNTS = (1, 10, 100)
_PURITY = {1: "purity:purity_1", 10: "purity", 100: "purity:purity_100"}
_PANELS = (
    ("neighbours of the sentence's own class, %", _PURITY),
    ("mean cosine distance × 100", {count: f"purity:distance_{count}" for count in _COUNTS}),
)


def draw_neighbours(rows: Sequence[Row], scores: Scores, path: Path) -> bool:
    """Draw both curves of every row that has them; returns whether there was any."""
    wanted = [name for _, measures in _PANELS for name in measures.values()]
    known = [row for row in rows if all(values_of(scores, row.name, name) for name in wanted)]
    if not known:
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    for panel, (label, measures) in zip(figure.subplots(1, 2), _PANELS, strict=True):
        for row in known:
            heights = [mean(values_of(scores, row.name, measures[count]).values()) for count in _COUNTS]
            panel.plot(_COUNTS, heights, "o-", label=row.title)
        panel.set_xscale("log")
        panel.set_xticks(_COUNTS, [str(count) for count in _COUNTS])
        panel.set_xlabel("nearest neighbours", fontsize=8)
        panel.set_ylabel(label, fontsize=8)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return True
