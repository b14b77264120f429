"""What a page draws, as plain arrays, and the same pictures as PNG."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from augment_cli.errors.visible import visible_line
from augment_cli.pages import drawing, maps
from augment_cli.pages.facts import StageFacts
from augment_cli.reports.choosing import choose_rows
from augment_cli.reports.difficulty import shipped_encoder
from augment_cli.store.store import Store

_MOST_CHARACTERS = 120  # of a text on a map
STATIC = "the shipped static encoder"
COLOURS = (
    "#2563a8",
    "#b8540d",
    "#5d7a1f",
    "#7a4d8f",
    "#0f8a8a",
    "#c23b6b",
    "#8a6d1d",
    "#5a6472",
)  # as style.css


@dataclass(frozen=True)
class Map:
    """Texts of a corpus in a plane, once for each encoder."""

    places: list[np.ndarray]  # (n, 2) each
    groups: np.ndarray  # (n,)
    names: list[str]  # of the groups, by their words
    texts: list[str]

    def svg(self, which: int, says: str) -> Markup:
        """One of the maps."""
        return drawing.points(self.places[which], self.groups, self.texts, says)


@dataclass(frozen=True)
class Figures:
    """What the page of a store draws beside its numbers."""

    cosines: dict[str, np.ndarray]  # of each stage to its originals (n,)
    cosines_by: str  # whose they are, where `augment-cli score` made none
    map: Map | None


def figures_of(store: Store, stages: Sequence[StageFacts]) -> Figures:
    """Cosines as they were scored, or of no stage by that encoder, then of all by the shipped one."""
    scored = {one.name: one.cosines for one in stages if len(one.cosines)}
    static = {one.name: one.static_cosines for one in stages if len(one.static_cosines)}
    return Figures(scored or static, "" if scored or not static else STATIC, _sentences(store))


def _sentences(store: Store) -> Map | None:
    """The corpus by the shipped encoder; None without that, scikit-learn or enough different texts."""
    encoder = shipped_encoder() if importlib.util.find_spec("sklearn") else None
    texts = list(dict.fromkeys(row["text"] for row in choose_rows(store, "corpus", maps.MOST)))
    if encoder is None or len(texts) < maps.FEWEST:
        return None
    return map_of(texts, encoder.encode(texts))


def map_of(texts: Sequence[str], *vectors: np.ndarray) -> Map:
    """Texts as a map for each set of vectors (n, d), all with the same groups."""
    groups = maps.groups_of(*vectors)
    shown = [visible_line(text)[:_MOST_CHARACTERS] for text in texts]
    names = [visible_line(name) for name in maps.names_of(groups, texts)]
    return Map(maps.places_of(*vectors), groups, names, shown)


def as_png(figures: Figures, page: Path) -> list[Path]:
    """Cosines and map as pictures beside a page: PAGE.cosines.png, PAGE.map.png."""
    written = []
    if figures.cosines:
        figure = _figure(6, 0.5 * len(figures.cosines) + 1)
        axes = figure.subplots()
        names = list(figures.cosines)
        axes.boxplot(
            [figures.cosines[name] for name in names], orientation="horizontal", whis=(5, 95), sym=""
        )
        axes.set_yticks(range(1, len(names) + 1), names)
        axes.set_xlabel(f"cosine to the original{figures.cosines_by and f', by {figures.cosines_by}'}")
        written.append(_save(figure, page.with_suffix(".cosines.png")))
    if figures.map is not None:
        written.append(map_png(figures.map, [""], page.with_suffix(".map.png")))
    return written


def map_png(found: Map, titles: Sequence[str], path: Path) -> Path:
    """Maps side by side, each with its title, and the names of the groups."""
    figure = _figure(7 * len(titles), 7)
    grid = figure.subplots(1, len(titles), squeeze=False)[0]
    for axes, places, title in zip(grid, found.places, titles, strict=True):
        for group, name in enumerate(found.names):
            own = found.groups == group
            axes.scatter(*places[own].T, s=14, color=COLOURS[group], label=name)
        axes.set_title(title)
        axes.set_axis_off()
        axes.invert_yaxis()  # as on the page
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return _save(figure, path)


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=110)
    return path
