"""One table over models, the papers' published rows beside ours, as Markdown, CSV or on the terminal."""

from __future__ import annotations

import csv
import io
import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError
from eval.results.results import ModelResults
from eval.tasks.registry import Task

PUBLISHED = Path(__file__).with_name("published.toml")
# Geometry is not a percentage; everything else is printed times 100.
_PLAIN = frozenset({"geometry", "geometry-nli"})
_ROW_SETTINGS = ("pooling", "max_length", "precision", "whiten", "classifier")


@dataclass(frozen=True)
class Row:
    """One line of a table: a model, where its numbers are from, and (mean, deviation) for each task."""

    model: str
    source: str
    cells: dict[str, tuple[float, float]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ScoreTable:
    """Rows over the tasks of one suite, with the mean of the row where every task of it has a score."""

    suite: str
    tasks: tuple[Task, ...]
    rows: tuple[Row, ...]

    def average(self, row: Row) -> float:
        """Plain mean over all tasks of the suite; NaN where one is missing."""
        values = [row.cells.get(task.name, (math.nan, math.nan))[0] for task in self.tasks]
        return float(np.mean(values)) if values else math.nan


def published_rows(suite: str, path: Path = PUBLISHED) -> list[Row]:
    """The papers' rows of a suite.

    Raises
    ------
    BadInputError
        If the file is damaged.
    """
    rows = []
    try:
        for entry in tomllib.loads(path.read_text("utf-8"))["row"]:
            if entry["suite"] != suite:
                continue
            deviations = entry.get("deviations", {})
            cells = {name: (value, deviations.get(name, math.nan)) for name, value in entry["scores"].items()}
            rows.append(Row(entry["model"], entry["source"], cells, _misprint(entry)))
    except (KeyError, tomllib.TOMLDecodeError) as error:
        raise BadInputError(f"{path} is damaged ({error}); restore it from the repository") from error
    return rows


def _misprint(entry: dict[str, Any]) -> list[str]:
    printed = entry.get("printed_average")
    mean = float(np.mean(list(entry["scores"].values())))
    if printed is None or abs(printed - mean) < 0.015:  # the last digit may be rounded or cut off
        return []
    return [f"the paper prints the average {printed:.2f}, its columns give {mean:.2f}"]


def our_rows(results: Sequence[ModelResults], tasks: Sequence[Task]) -> list[Row]:
    """Rows of scored models; those with one label are seeds of one model and share a row, mean ± sd."""
    by_label: dict[tuple[str, ...], list[ModelResults]] = {}
    for result in results:
        # Seeds differ in their weights and in nothing else; other settings make another row.
        same = (str(result.settings.get(key)) for key in _ROW_SETTINGS)
        by_label.setdefault((result.label, *same), []).append(result)
    rows = []
    for (label, *_), seeds in by_label.items():
        cells, notes = {}, []
        for task in tasks:
            scale = 1 if task.protocol in _PLAIN else 100
            found = [seed.tasks[task.name] for seed in seeds if task.name in seed.tasks]
            if not found:
                continue
            values = [scale * scores.main for scores in found]
            if len(seeds) > 1 and len(found) < len(seeds):
                notes.append(f"{task.title}: {len(found)} of {len(seeds)} seeds")
            runs = values if len(values) > 1 else [scale * run for run in found[0].runs]
            deviation = (
                float(np.std(runs, ddof=1)) if len(runs) > 1 and task.protocol != "transfer" else math.nan
            )
            cells[task.name] = (float(np.mean(values)), deviation)
            notes.extend(f"{task.title}: {note}" for note in dict.fromkeys(n for s in found for n in s.notes))
        settings = seeds[0].settings
        kind = [settings["pooling"], str(settings["max_length"]), settings["precision"]]
        kind += ["whitened"] if settings.get("whiten") else []
        kind += [str(settings.get("classifier"))] if tasks[0].protocol == "transfer" else []
        kind += [f"{len(seeds)} seeds"] if len(seeds) > 1 else []
        if cells:
            rows.append(Row(label, "ours: " + ", ".join(kind), cells, notes))
    return rows


def shot_rows(results: Sequence[ModelResults], tasks: Sequence[Task]) -> list[Row]:
    """Few-shot rows, one for each number of shots, as the paper prints them."""
    rows = []
    for result in results:
        scored = [result.tasks[task.name] for task in tasks if task.name in result.tasks]
        shots = sorted({int(key[9:]) for scores in scored for key in scores.scores if key[:9] == "accuracy_"})
        for shot in shots:
            cells = {
                scores.task: (100 * scores.scores[f"accuracy_{shot}"], 100 * scores.scores[f"sd_{shot}"])
                for scores in scored
            }
            source = f"ours: {result.settings['pooling']}, {result.settings['precision']}"
            rows.append(Row(f"{result.label}, {shot} shots", source, cells))
    return rows


def build(
    results: Sequence[ModelResults], registry: dict[str, Task], *, published: bool = True
) -> list[ScoreTable]:
    """One table for each suite in which some model has a score, published rows first."""
    tables = []
    for suite in dict.fromkeys(suite for task in registry.values() for suite in task.suites):
        tasks = tuple(task for task in registry.values() if suite in task.suites)
        ours = our_rows(results, tasks) if suite != "intent" else shot_rows(results, tasks)
        if ours:
            theirs = published_rows(suite) if published else []
            tables.append(ScoreTable(suite, tasks, (*theirs, *ours)))
    return tables


def _cell(cell: tuple[float, float] | None) -> str:
    if cell is None:
        return ""
    mean, deviation = cell
    if math.isnan(mean):
        return "undefined"
    return f"{mean:.2f}" if math.isnan(deviation) else f"{mean:.2f} ± {deviation:.2f}"


def header_and_lines(table: ScoreTable) -> tuple[list[str], list[list[str]]]:
    """A table as strings; the average column stands where more than one task is averaged."""
    averaged = len(table.tasks) > 1 and table.suite not in ("geometry", "dev", "more", "zh", "anli")
    header = ["model", "source", *(task.title for task in table.tasks), *(["average"] if averaged else [])]
    lines = []
    for row in table.rows:
        line = [row.model, row.source, *(_cell(row.cells.get(task.name)) for task in table.tasks)]
        if averaged:
            mean = table.average(row)
            line.append("" if math.isnan(mean) else f"{mean:.2f}")
        lines.append(line)
    return header, lines


def as_markdown(tables: Iterable[ScoreTable]) -> str:
    """Tables as Markdown, notes below each."""
    parts = []
    for table in tables:
        header, lines = header_and_lines(table)
        rule = ["---", "---", *["---:"] * (len(header) - 2)]
        body = "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *lines))
        notes = [f"- {row.model}: {note}" for row in table.rows for note in row.notes]
        parts.append(f"## {table.suite}\n\n{body}\n" + ("\n" + "\n".join(notes) + "\n" if notes else ""))
    return "\n".join(parts)


def as_csv(tables: Iterable[ScoreTable]) -> str:
    """All tables as one long CSV: suite, model, source, task, score, deviation."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["suite", "model", "source", "task", "score", "deviation"])
    for table in tables:
        for row in table.rows:
            for task in table.tasks:
                if task.name in row.cells:
                    values = ["" if math.isnan(v) else f"{v:.2f}" for v in row.cells[task.name]]
                    writer.writerow([table.suite, row.model, row.source, task.name, *values])
    return file.getvalue()
