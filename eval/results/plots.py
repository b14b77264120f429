"""Plots of results: scores per task, and similarity against gold."""

import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from eval import protocols
from eval.results import ModelResults, read_items, write_file
from eval.results.tables import our_rows
from eval.tasks import Task

_PER_ROW = 4
_as_they_stand = rc_context({"text.parse_math": False})  # names with dollar signs are no formulas


@_as_they_stand
def plot_scores(results: Sequence[ModelResults], tasks: Sequence[Task], path: Path) -> None:
    """Bars of the main score of each task, one colour a model, error bars where there are seeds."""
    tasks = [task for task in tasks if protocols.get(task.protocol).percent]
    rows = our_rows(results, tasks)
    shown = [task for task in tasks if any(task.name in row.cells for row in rows)]
    figure = Figure(figsize=(max(6.0, 0.55 * len(shown) * max(1, len(rows)) + 2), 4.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(1, len(rows))
    for number, row in enumerate(rows):
        cells = [row.cells.get(task.name, (math.nan, math.nan)) for task in shown]
        places = np.arange(len(shown)) + (number - (len(rows) - 1) / 2) * width
        heights = [mean for mean, _ in cells]
        errors = [0 if math.isnan(deviation) else deviation for _, deviation in cells]
        label = f" {row.model}" if row.model.startswith("_") else row.model  # matplotlib leaves such out
        bars = axes.bar(places, heights, width, yerr=errors if any(errors) else None, capsize=2, label=label)
        if len(rows) <= 2:
            axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
    axes.set_xticks(range(len(shown)), [task.title for task in shown], rotation=40, ha="right")
    axes.set_ylabel("main score × 100")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=min(4, max(1, len(rows))), frameon=False)
    _save(figure, path)


@_as_they_stand
def plot_similarity(result: ModelResults, tasks: Sequence[Task], path: Path) -> None:
    """Cosine similarity of each pair against its gold score, one panel a task."""
    # Gold scores are quantised, so points are spread a little sideways; the line joins the median
    # similarity of each fifth of the gold range.
    panels = [(task, items) for task in tasks if "gold" in (items := read_items(result.folder, task.name))]
    if not panels:
        return
    columns = min(_PER_ROW, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(3.2 * columns, 3.0 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    generator = np.random.default_rng(0)
    for axes, (task, items) in zip(grid.flat, panels, strict=False):
        gold, similarity = items["gold"], items["similarity"]
        low, high = task.gold_range
        jitter = generator.uniform(-0.01, 0.01, len(gold)) * (high - low)
        axes.scatter(gold + jitter, similarity, s=3, alpha=0.25, linewidths=0, rasterized=True)
        edges = np.linspace(low, high, 6)
        bins = np.clip(np.digitize(gold, edges) - 1, 0, 4)
        filled = [b for b in range(5) if (bins == b).any()]
        centres = [(edges[b] + edges[b + 1]) / 2 for b in filled]
        axes.plot(centres, [np.median(similarity[bins == b]) for b in filled], color="black", lw=1.5)
        score = result.tasks[task.name].main if task.name in result.tasks else math.nan
        axes.set_title(f"{task.title}: {100 * score:.2f}", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel("gold similarity")
    figure.supylabel("cosine")
    figure.suptitle(result.label, fontsize=10)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    buffer = io.BytesIO()
    with warnings.catch_warnings():  # a mark that the font lacks is an empty box
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="png", dpi=130)
    write_file(path, buffer.getvalue())
