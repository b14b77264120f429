"""Results on disk: one JSON a task in the shape the mteb library reads, and values per example beside it."""

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from augment_cli.encoding.cache import DAMAGED_ARCHIVE
from augment_cli.errors import BadInputError, MissingError, MixError, UsageError
from augment_cli.errors.visible import visible_line
from augment_cli.store.files import read_small_file
from eval import protocols
from eval.contract import TaskScore
from eval.tasks import Table, Task

# The version of mteb whose result layout this is; the library reads it from this field.
MTEB_VERSION = "2.0.0"
RESAMPLES = 2000  # draws of the examples, where two encoders are compared
_MOST_ITEM_BYTES = 1 << 30  # of all values per example of a task; a million of them have 16 MB
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "tokenizers")


class _Encoder(msgspec.Struct):
    """What `encoder.json` must say for tables to be made of it."""

    name: str
    pooling: str
    precision: str
    max_length: int | None
    whiten: bool = False


class _Entry(msgspec.Struct):
    """What a task's JSON must say of the scored split."""

    task: str
    title: str
    main_score: float | None
    notes: list[str]
    runs: list[float | None]
    protocol: str = ""
    data_sha256: str = ""


class _Result(msgspec.Struct):
    """A task's JSON: one split, one entry."""

    scores: dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class StoredScore:
    """One task's result as read back from disk."""

    task: str  # name in the registry, and what tables print
    title: str
    main: float  # main score as the protocol gave it; NaN where it is not defined
    scores: dict[str, float]  # every number by name
    notes: list[str] = field(default_factory=list)  # what the protocol remarked
    runs: list[float] = field(default_factory=list)  # main score of each seed, split or fold
    protocol: str = ""  # what scored it
    data: str = ""  # SHA-256 of the file that it was scored on; empty in results that do not say so


@dataclass(frozen=True)
class ModelResults:
    """Every task of one encoder under one setting."""

    folder: Path  # where they lie
    label: str  # what tables call the encoder; seeds of one model share it
    settings: dict[str, Any]  # what encoder.json says of the encoder and of the run
    tasks: dict[str, StoredScore]  # the scores by task


def task_name(task: Task) -> str:
    """The name under which mteb finds a result: its own where data and protocol agree, else our own."""
    plain = re.sub(r"[^A-Za-z0-9-]+", "-", task.title).strip("-")
    return task.mteb_name or "-".join(filter(None, (plain, protocols.get(task.protocol).suffix)))


def library_versions() -> dict[str, str]:
    """Versions of the libraries that decide a score."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def as_mteb(table: Table, score: TaskScore, seconds: float) -> dict[str, Any]:
    """A task's result in mteb's JSON shape."""
    task = table.task
    names = protocols.get(task.protocol).mteb_scores
    scores = score.scores | {
        theirs: score.scores[ours] for theirs, ours in names.items() if ours in score.scores
    }  # an undefined score is alone
    entry = {
        "hf_subset": "default",
        "languages": [task.language],
        "main_score": score.main,
        **scores,
        "task": task.name,
        "title": task.title,
        "protocol": task.protocol,
        "main_metric": task.metric,
        "runs": score.runs,
        "settings": score.settings,
        "notes": score.notes,
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
        "scores": {task.split: [without_nan(entry)]},
    }


def write_result(folder: Path, table: Table, score: TaskScore, seconds: float) -> Path:
    """Write a task's JSON and its values per example; each file is complete or not there."""
    name = task_name(table.task)
    path = folder / f"{name}.json"
    text = json.dumps(as_mteb(table, score, seconds), indent=2, ensure_ascii=False, allow_nan=False)
    write_file(path, (text + "\n").encode())
    items = folder / "items" / f"{table.task.name}.npz"
    if score.items:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **score.items)  # type: ignore[arg-type]
        write_file(items, buffer.getvalue())
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
    """Read back a folder of results."""
    if not (folder / "encoder.json").is_file():
        raise MissingError(
            f"{folder} holds no results (encoder.json is missing); name a folder that eval wrote"
        )
    settings = _read(folder / "encoder.json")
    try:
        encoder = msgspec.convert(settings, _Encoder)
    except msgspec.ValidationError as error:
        raise BadInputError(
            f"{folder / 'encoder.json'} was not written by this evaluator ({error}); score the model again"
        ) from error
    tasks = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "encoder.json":
            continue
        try:
            (row,) = (row for rows in msgspec.convert(_read(path), _Result).scores.values() for row in rows)
            stored = _stored(row, msgspec.convert(row, _Entry))
        except (ValueError, OverflowError) as error:  # msgspec's is a ValueError, too
            raise BadInputError(
                f"{path} is not a result of this evaluator ({error}); score the task again"
            ) from error
        tasks[stored.task] = stored
    return ModelResults(folder, visible_line(encoder.name), settings, tasks)


def _stored(row: dict[str, Any], entry: _Entry) -> StoredScore:
    """A task's result; its texts cannot command a terminal, nor begin lines of a table."""
    numbers = {
        key: math.nan if value is None else float(value)
        for key, value in row.items()
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    }
    runs = [math.nan if run is None else run for run in entry.runs]
    notes = [visible_line(note) for note in entry.notes]
    title, main = visible_line(entry.title), numbers["main_score"]
    task, digest = visible_line(entry.task), visible_line(entry.data_sha256)
    return StoredScore(task, title, main, numbers, notes, runs, entry.protocol, digest)


def find_results(root: Path) -> list[ModelResults]:
    """All results at or below a folder, in the order of their paths."""
    results = [read_results(path.parent) for path in sorted(root.rglob("encoder.json"))]
    if not results:
        raise MissingError(f"{root} holds no results; score a model first: python -m eval MODEL --data DIR")
    return results


SCORED_WITH = ("pooling", "max_length", "precision", "whiten", "prompt_name", "query_prompt_name")


def unlike_settings(first: ModelResults, second: ModelResults) -> str:
    """What two encoders were scored with unlike, in words, since it may be the whole difference; or empty."""
    found = [(key, *(one.settings.get(key) for one in (first, second))) for key in SCORED_WITH]
    return "; ".join(f"{key} {here} and {there}" for key, here, there in found if here != there)


def check_same_data(task: str, results: Sequence[ModelResults]) -> None:
    """Refuse to set scores beside each other that are of different data under one name."""
    scored = [(one.tasks[task].data, one.folder) for one in results if task in one.tasks]
    digests = {digest: folder for digest, folder in scored if digest}
    if len(digests) > 1:
        (first, here), (second, there), *_ = digests.items()
        raise MixError(
            f"{task}: the results are of different data, {first[:12]}… in {here} and {second[:12]}… in "
            f"{there}; score all encoders on one file, then compare them"
        )


def results_of_one(root: Path) -> list[ModelResults]:
    """The results of one encoder at or below a folder: one, or those of its seeds."""
    results = find_results(root)
    kinds = {(one.label, *(str(one.settings.get(key)) for key in SCORED_WITH)) for one in results}
    if len(kinds) > 1:
        folders = ", ".join(str(one.folder) for one in results[:8]) + (", …" if len(results) > 8 else "")
        raise UsageError(f"{root}: holds results of {len(kinds)} encoders or settings; name one of {folders}")
    return results


def read_items(folder: Path, task: str) -> dict[str, np.ndarray]:
    """The per-example values of a task, shape (n,) each; empty where the protocol has none."""
    path = folder / "items" / f"{task}.npz"
    if not path.is_file():
        return {}
    try:
        with zipfile.ZipFile(path) as archive:  # what it claims, before memory is taken for it
            if sum(member.file_size for member in archive.infolist()) > _MOST_ITEM_BYTES:
                raise ValueError("it claims more than a gigabyte")
        with np.load(path, allow_pickle=False) as arrays:
            items = dict(arrays)
        if any(array.ndim != 1 or array.dtype.kind not in "bif" for array in items.values()):
            raise ValueError("its arrays are not lists of numbers")
        if len({len(array) for array in items.values()}) > 1:
            raise ValueError("its arrays have different lengths")
        if "gold" in items and "similarity" not in items:
            raise ValueError("it has gold scores without similarities")
    except DAMAGED_ARCHIVE as error:
        raise BadInputError(f"{path} is damaged ({error}); score the task again") from error
    return items


def _read(path: Path) -> Any:
    try:
        return json.loads(read_small_file(path))
    except (OSError, ValueError, RecursionError) as error:  # json's and Unicode's are ValueErrors, too
        raise BadInputError(f"{path} is not readable JSON ({error}); score the task again") from error


def without_nan(value: Any) -> Any:
    """A value for JSON: null for a number that is none."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if isinstance(value, np.generic):
        return without_nan(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
