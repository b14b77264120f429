"""Results on disk: one JSON a task in the shape the mteb library reads, and per-example values beside it."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError, MissingError
from eval.results.outcome import Outcome
from eval.tasks.registry import Table, Task

# The version of mteb whose result layout this is; the library reads it from this field.
MTEB_VERSION = "2.0.0"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "tokenizers")


@dataclass(frozen=True)
class TaskScores:
    """One task's result as read back from disk.

    Attributes
    ----------
    task, title
        Name in the registry, and what tables print.
    main
        Main score as a fraction; NaN where not defined.
    scores
        Every number by name.
    notes
        What the protocol remarked.
    runs
        Main score of each seed, split or fold.
    """

    task: str
    title: str
    main: float
    scores: dict[str, float]
    notes: list[str] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class ModelResults:
    """Every task of one encoder under one setting."""

    folder: Path
    label: str
    settings: dict[str, Any]
    tasks: dict[str, TaskScores]


def task_name(task: Task) -> str:
    """The name under which mteb finds a result: its own where data and protocol agree, else one of ours."""
    suffix = {"transfer": "SentEval", "clustering": "KMeans", "intent": "FewShot", "ordering": "Ordering"}
    plain = re.sub(r"[^A-Za-z0-9-]+", "-", task.title).strip("-")
    return task.mteb_name or "-".join(filter(None, (plain, suffix.get(task.protocol, ""))))


def library_versions() -> dict[str, str]:
    """Versions of the libraries that decide a score."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def as_mteb(table: Table, outcome: Outcome, seconds: float) -> dict[str, Any]:
    """A task's result in mteb's JSON shape; undefined scores are null, extra keys say how it was made."""
    task = table.task
    scores = dict(outcome.scores)
    if task.protocol == "sts":
        scores |= {"cosine_spearman": scores["spearman"], "cosine_pearson": scores["pearson"]}
    entry = {
        "hf_subset": "default",
        "languages": [task.language],
        "main_score": outcome.main,
        **scores,
        "task": task.name,
        "title": task.title,
        "protocol": task.protocol,
        "main_metric": task.metric,
        "runs": outcome.runs,
        "settings": outcome.settings,
        "notes": outcome.notes,
        "data_file": task.file,
        "data_sha256": table.sha256,
        "data_checked": table.checked,
        "counts": task.counts,
    }
    return {
        "dataset_revision": table.sha256,
        "task_name": task_name(task),
        "mteb_version": MTEB_VERSION,
        "evaluation_time": round(seconds, 3),
        "kg_co2_emissions": None,
        "scores": {task.split: [_without_nan(entry)]},
    }


def write_result(folder: Path, table: Table, outcome: Outcome, seconds: float) -> Path:
    """Write a task's JSON and its per-example values; each file is complete or not there."""
    name = task_name(table.task)
    path = folder / f"{name}.json"
    text = json.dumps(as_mteb(table, outcome, seconds), indent=2, ensure_ascii=False, allow_nan=False)
    write_file(path, (text + "\n").encode())
    items = folder / "items" / f"{table.task.name}.npz"
    if outcome.items:
        items.parent.mkdir(parents=True, exist_ok=True)
        temporary = items.with_name(f".{items.name}.{os.getpid()}")
        with temporary.open("wb") as file:
            np.savez_compressed(file, **outcome.items)  # type: ignore[arg-type]
        temporary.replace(items)
    else:
        items.unlink(missing_ok=True)
    return path


def write_file(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def write_encoder(folder: Path, label: str, settings: dict[str, Any]) -> None:
    """Write what the results of a folder were made with."""
    entry = {"name": label, **settings, "libraries": library_versions()}
    write_file(folder / "encoder.json", (json.dumps(entry, indent=2, ensure_ascii=False) + "\n").encode())


def read_results(folder: Path) -> ModelResults:
    """Read back a folder of results.

    Raises
    ------
    MissingError
        If the folder holds no results.
    BadInputError
        If a file of it is damaged.
    """
    if not (folder / "encoder.json").is_file():
        raise MissingError(
            f"{folder} holds no results (encoder.json is missing); name a folder that eval wrote"
        )
    settings = _read(folder / "encoder.json")
    tasks = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "encoder.json":
            continue
        try:
            (entry,) = (row for rows in _read(path)["scores"].values() for row in rows)
            numbers = {
                key: math.nan if value is None else float(value)
                for key, value in entry.items()
                if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            }
            tasks[entry["task"]] = TaskScores(
                entry["task"], entry["title"], numbers["main_score"], numbers, entry["notes"], entry["runs"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInputError(
                f"{path} is not a result of this evaluator ({error}); score the task again"
            ) from error
    return ModelResults(folder, str(settings["name"]), settings, tasks)


def find_results(root: Path) -> list[ModelResults]:
    """All results at or below a folder, in the order of their paths.

    Raises
    ------
    MissingError
        If there are none.
    """
    found = [read_results(path.parent) for path in sorted(root.rglob("encoder.json"))]
    if not found:
        raise MissingError(f"{root} holds no results; score a model first: python -m eval MODEL --data DIR")
    return found


def read_items(folder: Path, task: str) -> dict[str, np.ndarray]:
    """The per-example values of a task; empty where the protocol has none."""
    path = folder / "items" / f"{task}.npz"
    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError) as error:
        raise BadInputError(f"{path} is damaged ({error}); score the task again") from error


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInputError(f"{path} is not readable JSON ({error}); score the task again") from error


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    if isinstance(value, np.generic):
        return _without_nan(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
