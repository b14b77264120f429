"""Score tables as a page: models one below the other, each score with its interval on the column's scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from augment_cli.pages import drawing, layout
from augment_cli.places import as_typed
from eval import protocols
from eval.results.compare import interval_of
from eval.results.tables import Row, ScoreTable, header_and_lines
from eval.tasks.registry import Task

_TEMPLATE = Path(__file__).with_name("scores.html")


@dataclass(frozen=True)
class Cell:
    """A score as it is printed, and its interval as a picture, where there is one."""

    text: str
    picture: Markup | None = None


def as_page(tables: Sequence[ScoreTable]) -> str:
    """Tables as one HTML file that needs no network."""
    models = {row.model for table in tables for row in table.rows if _is_ours(row)}
    headline = f"Models scored here: {len(models)}; the papers' own rows stand below them."
    return layout.render(
        as_typed(_TEMPLATE.read_text("utf-8")),
        "Scores",
        {"headline": headline, "tables": [_shown(table) for table in tables]},
    )


def _shown(table: ScoreTable) -> dict[str, Any]:
    header, lines = header_and_lines(table)
    intervals = {task.name: [_interval(row, task) for row in table.rows] for task in table.tasks}
    scales = {name: _scale(found) for name, found in intervals.items()}
    rows: list[dict[str, Any]] = []
    for number, (row, line) in enumerate(zip(table.rows, lines, strict=True)):
        cells = [Cell(text) for text in line[2:]]
        for place, task in enumerate(table.tasks):
            found = intervals[task.name][number]
            if found is not None:
                cells[place] = Cell(line[2 + place], _picture(found, scales[task.name], row, task))
        rows.append({"model": row.model, "source": row.source, "ours": _is_ours(row), "cells": cells})
    notes = [f"{row.model}: {note}" for row in table.rows for note in row.notes]
    rows.sort(key=lambda row: not row["ours"])
    return {"suite": table.suite, "columns": header[2:], "rows": rows, "notes": notes}


def _interval(row: Row, task: Task) -> tuple[float, float, float] | None:
    """Low, score and high in the table's unit: over seeds where there are several, else over examples."""
    value, deviation = row.cells.get(task.name, (math.nan, math.nan))
    if math.isnan(value):
        return None
    if not math.isnan(deviation):
        return value - deviation, value, value + deviation
    found = interval_of(row.results[0], task.name) if len(row.results) == 1 else None
    if found is None:
        return None
    scale = protocols.get(task.protocol).scale
    return scale * found[0], value, scale * found[1]


def _scale(intervals: Sequence[tuple[float, float, float] | None]) -> tuple[float, float]:
    ends = [end for found in intervals if found is not None for end in found]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _picture(found: tuple[float, float, float], scale: tuple[float, float], row: Row, task: Task) -> Markup:
    low, value, high = found
    says = f"{row.model}, {task.title}: {value:.2f}, from {low:.2f} to {high:.2f}"
    return drawing.interval(low, value, high, *scale, says)


def _is_ours(row: Row) -> bool:
    return row.source.startswith("ours")
