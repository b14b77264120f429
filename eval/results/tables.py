"""One table over models, the papers' published rows beside ours, as Markdown, CSV or on the terminal."""

import csv
import io
import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors.visible import in_markdown, visible_line
from eval import protocols
from eval.results import SCORED_WITH, ModelResults, StoredScore, check_same_data
from eval.tasks import Task, labelled, own_task

PUBLISHED = Path(__file__).with_name("published.toml")
_OWN_KINDS = labelled.KINDS | {"retrieval": "retrieval"}  # of tasks over one's own files, by protocol
# Suites whose tasks have no mean: they are of different kinds, or no paper averages them.
_NOT_AVERAGED = frozenset({"geometry", "dev", "more", "zh", "anli", "labelled"})


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    model: str  # the model, and where its numbers are from
    source: str
    # (mean, deviation) by task, as they are printed; NaN where there is none
    cells: dict[str, tuple[float, float]]
    notes: list[str] = field(default_factory=list)  # what stands below the table
    # what the row was made from; empty for a paper's row, or where a row is not of whole results
    results: tuple[ModelResults, ...] = ()


@dataclass(frozen=True)
class ScoreTable:
    """Rows over the tasks of one suite."""

    suite: str  # its name
    tasks: tuple[Task, ...]  # the columns
    rows: tuple[Row, ...]  # the papers' first

    def average(self, row: Row) -> float:
        """Plain mean over all tasks of the suite; NaN where one is missing."""
        values = [row.cells.get(task.name, (math.nan, math.nan))[0] for task in self.tasks]
        return float(np.mean(values)) if values else math.nan


def published_rows(suite: str, path: Path = PUBLISHED) -> list[Row]:
    """The papers' rows of a suite."""
    rows = []
    for entry in tomllib.loads(path.read_text("utf-8"))["row"]:
        if entry["suite"] == suite:
            deviations = entry.get("deviations", {})
            cells = {name: (value, deviations.get(name, math.nan)) for name, value in entry["scores"].items()}
            rows.append(Row(entry["model"], entry["source"], cells, _misprint(entry)))
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
    recorded = [setting.name for setting in protocols.settings() if setting.recorded]
    for result in results:
        # Seeds differ in their weights and in nothing else; other settings make another row.
        same = (str(result.settings.get(key)) for key in (*SCORED_WITH, *recorded))
        by_label.setdefault((result.label, *same), []).append(result)
    rows = []
    for (label, *_), seeds in by_label.items():
        cells, notes = {}, []
        for task in tasks:
            scores = [seed.tasks[task.name] for seed in seeds if task.name in seed.tasks]
            if not scores:
                continue
            if len(seeds) > 1 and len(scores) < len(seeds):
                notes.append(f"{task.title}: {len(scores)} of {len(seeds)} seeds")
            cells[task.name] = _mean_and_deviation(task, scores)
            notes.extend(
                f"{task.title}: {note}" for note in dict.fromkeys(n for s in scores for n in s.notes)
            )
        if cells:
            source = visible_line("ours: " + ", ".join(_kind(seeds, tasks[0])))
            rows.append(Row(label, source, cells, notes, tuple(seeds)))
    return rows


def _mean_and_deviation(task: Task, scores: Sequence[StoredScore]) -> tuple[float, float]:
    """Over the seeds of a model; over the runs of the protocol where there is one seed."""
    protocol = protocols.get(task.protocol)
    values = [protocol.scale * score.main for score in scores]
    runs = values if len(values) > 1 else [protocol.scale * run for run in scores[0].runs]
    deviates = len(runs) > 1 and protocol.deviates
    return float(np.mean(values)), float(np.std(runs, ddof=1)) if deviates else math.nan


def _kind(seeds: Sequence[ModelResults], task: Task) -> list[str]:
    """What a row was made with, in words."""
    settings = seeds[0].settings
    longest = settings["max_length"]
    kind = [settings["pooling"], "uncut" if longest is None else str(longest), settings["precision"]]
    kind += ["whitened"] if settings.get("whiten") else []
    prompts = [settings[key] for key in ("prompt_name", "query_prompt_name") if settings.get(key)]
    kind += [f"prompt {' and '.join(prompts)}"] if prompts else []
    recorded = [setting for setting in protocols.get(task.protocol).settings if setting.recorded]
    kind += [str(settings.get(setting.name)) for setting in recorded]
    kind += [f"{len(seeds)} seeds"] if len(seeds) > 1 else []
    return kind


def labelled_rows(results: Sequence[ModelResults], tasks: Sequence[Task]) -> list[Row]:
    """One row for each model and label of its protocol's scores, such as a number of shots."""
    rows = []
    for result in results:
        by_label: dict[str, dict[str, tuple[float, float]]] = {}
        for task in tasks:
            protocol = protocols.get(task.protocol)
            if task.name in result.tasks and protocol.rows:
                for label, (score, deviation) in protocol.rows(result.tasks[task.name].scores).items():
                    cell = (protocol.scale * score, protocol.scale * deviation)
                    by_label.setdefault(label, {})[task.name] = cell
        source = visible_line(f"ours: {result.settings['pooling']}, {result.settings['precision']}")
        rows += [Row(f"{result.label}, {label}", source, cells) for label, cells in by_label.items()]
    return rows


def with_own_sets(registry: dict[str, Task], results: Sequence[ModelResults]) -> dict[str, Task]:
    """The registry, and a task for each set among results that is one's own, and so in no registry."""
    known = dict(registry)
    for stored in (stored for result in results for stored in result.tasks.values()):
        if kind := _OWN_KINDS.get(stored.protocol):
            known.setdefault(stored.task, own_task(kind, name=stored.task, title=stored.title))
    return known


def build(
    results: Sequence[ModelResults], registry: dict[str, Task], *, published: bool = True
) -> list[ScoreTable]:
    """One table for each suite in which some model has a score."""
    tables = []
    for suite in dict.fromkeys(suite for task in registry.values() for suite in task.suites):
        tasks = tuple(task for task in registry.values() if suite in task.suites)
        by_label = all(protocols.get(task.protocol).rows for task in tasks)
        for task in tasks:
            check_same_data(task.name, results)
        ours = labelled_rows(results, tasks) if by_label else our_rows(results, tasks)
        if ours:
            theirs = published_rows(suite) if published else []
            tables.append(ScoreTable(suite, tasks, (*theirs, *ours)))
    return tables


def of_tasks(results: Sequence[ModelResults], tasks: Sequence[Task]) -> ScoreTable:
    """One table of some tasks alone, whatever their suites, with their average."""
    for task in tasks:
        check_same_data(task.name, results)
    return ScoreTable(", ".join(task.name for task in tasks), tuple(tasks), tuple(our_rows(results, tasks)))


def _cell(cell: tuple[float, float] | None) -> str:
    if cell is None:
        return ""
    mean, deviation = cell
    if math.isnan(mean):
        return "undefined"
    return f"{mean:.2f}" if math.isnan(deviation) else f"{mean:.2f} ± {deviation:.2f}"


def header_and_lines(table: ScoreTable) -> tuple[list[str], list[list[str]]]:
    """A table as strings; the average column stands where more than one task is averaged."""
    averaged = len(table.tasks) > 1 and table.suite not in _NOT_AVERAGED
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
        body = "\n".join("| " + " | ".join(map(in_markdown, line)) + " |" for line in (header, rule, *lines))
        notes = [in_markdown(f"- {row.model}: {note}") for row in table.rows for note in row.notes]
        parts.append(
            f"## {in_markdown(table.suite)}\n\n{body}\n" + ("\n" + "\n".join(notes) + "\n" if notes else "")
        )
    return "\n".join(parts)


def as_latex(tables: Iterable[ScoreTable]) -> str:
    """Tables as LaTeX with the rules of `booktabs`; a rule divides the papers' rows from ours."""
    parts = []
    for table in tables:
        header, lines = header_and_lines(table)
        body, theirs = list[str](), True
        for row, line in zip(table.rows, lines, strict=True):
            if row.results and theirs and body:
                body.append("\\midrule")
            theirs = not row.results
            body.append(_latex(line))
        top = [f"% {table.suite}", f"\\begin{{tabular}}{{ll{'r' * (len(header) - 2)}}}", "\\toprule"]
        top += [_latex(header), "\\midrule"]
        parts.append("\n".join([*top, *body, "\\bottomrule", "\\end{tabular}"]))
    return "\n\n".join(parts)


_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
)


def _latex(cells: Sequence[str]) -> str:
    return " & ".join(cell.translate(_LATEX) for cell in cells) + " \\\\"


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
