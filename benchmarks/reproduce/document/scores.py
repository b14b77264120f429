"""What was measured, by row, seed and measure: for the tables, and as a data file for everybody else."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import mean

from benchmarks.reproduce.comparisons import Scores, spread, values_of
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.plan import Entry
from benchmarks.reproduce.results import TRAINING
from eval import protocols
from eval.tasks.registry import load_registry

DEV = "stsb-dev"
NO_TRAINING = "no-training"  # the row of the starting encoder
TITLES = {
    "dev": "STS-B dev",
    "average": "STS average",
    "transfer": "transfer average",
    "clustering": "clustering average",
    "intent": "few-shot intent average",
    "purity": "purity of 10 neighbours",
    "cola": "CoLA",
    "ordering": "ANLI ordering",
    "spaces": "COND-HM of SNLI premises and what they entail",
}


def scores_of(grid: Grid, profile: Profile, entries: Iterable[Entry]) -> Scores:
    """Measures in points of each row and seed; sweeps' points that are a row's own have them too."""
    scores: Scores = {}
    for entry in entries:
        if measures := _measures(entry):
            scores.setdefault(entry.unit.row.name, {})[entry.unit.seed] = measures
            for name in entry.unit.same:
                scores[name] = scores[entry.unit.row.name]
    return scores


def scored_tasks(grid: Grid, profile: Profile, scores: Scores, evaluation: str) -> tuple[str, ...]:
    """The test sets of an evaluation that any row has a score of; STS-B dev is none."""
    names = (name for name in grid.tasks(evaluation, profile) if name != DEV)
    return tuple(name for name in names if any_score(scores, name))


def any_score(scores: Scores, task: str) -> bool:
    """Whether any row has a score of a test set."""
    return any(task in measures for seeds in scores.values() for measures in seeds.values())


def _measures(entry: Entry) -> dict[str, float]:
    measures: dict[str, float] = {}
    for name, result in entry.results.items():
        values = {key: v for key, v in result.scores.items() if isinstance(v, (int, float)) and v == v}
        if name == TRAINING:
            if "steps" in values:
                measures["steps"] = values["steps"]
            if values.get("best_step") == 0 and "last" in values:
                measures["last"] = 100 * values["last"]
            if "discriminator_accuracy" in values:
                measures["discriminator_accuracy"] = 100 * values["discriminator_accuracy"]
            rows = values.get("steps", 0) * entry.unit.recipe.batch if entry.unit.recipe else 0
            if rows and "cpu_seconds" in values:
                measures["cpu"] = 1000 * values["cpu_seconds"] / rows
            continue
        values.pop("seconds", None)
        measures |= {key: _scale(key) * value for key, value in values.items()}
        tests = [measures[key] for key in values if key != DEV and ":" not in key]
        if tests:
            measures["average" if name == "sts" else name] = mean(tests)
        if DEV in values:
            measures["dev"] = 100 * values[DEV]
    return measures


@cache
def _scale(score: str) -> int:
    """What a score of a task, or `task:score`, is multiplied by."""
    task = load_registry().get(score.partition(":")[0])
    return protocols.get(task.protocol).scale if task else 100


def write_csv(grid: Grid, scores: Scores, path: Path) -> None:
    """Every measure of every row, sweeps' points among them: a line each, sorted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("row", "seed", "measure", "points"))
        for row in sorted(grid.rows, key=lambda one: one.name):
            for seed, measures in sorted(scores.get(row.name, {}).items()):
                for measure, value in sorted(measures.items()):
                    seed_of_row = seed if row.has_seed else ""
                    writer.writerow((row.name, seed_of_row, measure, f"{value:.4f}"))


def cell(scores: Scores, row: str, measure: str) -> str:
    """Mean ± sample deviation over the seeds, empty where nothing was measured."""
    values = list(values_of(scores, row, measure).values())
    if not values:
        return ""
    center, sd = spread(values)
    return f"{center:.2f}" + (f" ± {sd:.2f}" if sd == sd else "")


def signed(center: float, sd: float) -> str:
    """A difference ± its deviation."""
    return f"{center:+.2f}" + (f" ± {sd:.2f}" if sd == sd else "")
