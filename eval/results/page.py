"""Score tables as a page, each score with its interval on the column's scale; the same in a model card."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult, ModelCard, ModelCardData
from markupsafe import Markup

from augment_cli.errors import BadInputError, MissingError
from augment_cli.pages import drawing, layout
from augment_cli.places import as_typed
from augment_cli.store.files import read_small_text
from eval import protocols
from eval.results import write_file
from eval.results.compare import Comparison, interval_of
from eval.results.tables import Row, ScoreTable, header_and_lines
from eval.tasks import Task

_TEMPLATE = Path(__file__).with_name("scores.html")
BEGIN, END = "<!-- python -m eval card -->", "<!-- end of python -m eval card -->"
HEADING = "## Scores before and after"


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


def section(comparisons: Sequence[Comparison], before: str, after: str) -> str:
    """The card's section: a row for each task, in points, with the 95 % interval of the difference."""
    lines = [
        BEGIN,
        HEADING,
        "",
        f"Before: {before}. After: {after}. In points; 95 %: of the difference, where it is known.",
        "",
        "| task | what | before | after | difference | 95 % | p |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for one in comparisons:
        task, what, second, first, _, interval, p = one.in_points("–", "–")
        cells = (task, what, first, second, f"{100 * one.difference:+.2f}", interval, p)
        lines.append(
            "| " + " | ".join(escape(cell, quote=False).replace("|", "\\|") for cell in cells) + " |"
        )
    return "\n".join([*lines, END])


def write_section(model: Path, text: str, comparisons: Sequence[Comparison]) -> Path:
    """Put the section into a model's README.md, in an earlier one's place, and the scores into its header."""
    path = model / "README.md"
    if not path.is_file():
        raise MissingError(f"{path}: no model card there; name the folder of an encoder that has one")
    card = read_small_text(path)
    if BEGIN in card:
        before, _, rest = card.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise BadInputError(f"{path}: the section of scores has no end ({END}); mend it by hand")
        card = before + text + after
    else:
        card = f"{card.rstrip()}\n\n{text}\n"
    write_file(path, _with_results(path, card, comparisons).encode())
    return path


def _with_results(path: Path, card: str, comparisons: Sequence[Comparison]) -> str:
    """The card with the scores after training in its header, if it has one, where hubs read them."""
    if not card.startswith("---\n"):
        return card
    try:
        read = ModelCard(card, ignore_metadata_errors=True)
    except (ValueError, yaml.YAMLError):
        raise BadInputError(f"{path}: its header is not YAML; mend it by hand") from None
    assert isinstance(read.data, ModelCardData)
    found = [
        EvalResult("sentence-similarity", one.task, one.task, one.statistic, round(one.first, 4))
        for one in comparisons
    ]
    others = [
        one
        for one in read.data.eval_results or []
        if one.dataset_type not in {new.dataset_type for new in found}
    ]
    read.data.model_name, read.data.eval_results = read.data.model_name or path.parent.name, others + found
    return f"---\n{read.data.to_yaml()}\n---\n{read.text}"
