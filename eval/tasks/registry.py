"""The registry of evaluation sets (tasks.toml) and the reading of their files, every count asserted."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError, MissingError, UsageError
from eval.protocols.sts import Pairs

REGISTRY = Path(__file__).with_name("tasks.toml")


@dataclass(frozen=True)
class Task:
    """One evaluation set, as tasks.toml states it.

    Attributes
    ----------
    name, title
        What the command calls it, and what tables print.
    protocol
        Which protocol scores it: `sts`, `transfer`, `cola`, `clustering`, `intent` or `ordering`.
    file
        Path under the data folder.
    columns
        The file's header, exactly.
    counts
        Rows per split that must remain once pairs without gold are dropped.
    split
        The split that is scored; `all` means no official split.
    metric
        The main score, one of those the protocol reports.
    text_columns, label_column
        Where sentences and gold are.
    subset_column, subsets
        Where the subset's name is, and how many scored rows each subset must have.
    gold_range
        Lowest and highest gold score.
    minimum_class
        Smallest number of examples (train and dev together) with which a class is kept.
    classes
        Number of classes that must remain.
    sha256, content_sha256
        Digest of the file the counts were checked on, compressed and decompressed; either will do.
    mteb_name
        Name of the mteb task with the same data and protocol, where there is one.
    suites
        Names under which the command offers this task together with others.
    """

    name: str
    title: str
    protocol: str
    file: str
    columns: tuple[str, ...]
    counts: dict[str, int]
    split: str
    metric: str
    text_columns: tuple[str, ...]
    label_column: str
    subset_column: str = ""
    subsets: dict[str, int] = field(default_factory=dict)
    gold_range: tuple[float, float] = (0.0, 0.0)
    minimum_class: int = 0
    classes: int = 0
    sha256: str = ""
    content_sha256: str = ""
    mteb_name: str = ""
    language: str = "eng-Latn"
    suites: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A task's rows as columns of strings, and the digest of the file they came from."""

    task: Task
    columns: dict[str, list[str]]
    sha256: str
    checked: bool

    def select(self, column: str, split: str) -> list[str]:
        """The values of a column in the rows of one split."""
        chosen = zip(self.columns[column], self.columns["split"], strict=True)
        return [value for value, row_split in chosen if row_split == split]


def load_registry(path: Path = REGISTRY) -> dict[str, Task]:
    """Read the registry.

    Raises
    ------
    BadInputError
        If an entry has a key that no task has, or lacks one.
    """
    entries = tomllib.loads(path.read_text("utf-8"))
    known = {item.name for item in dataclasses.fields(Task)}
    tasks = {}
    for name, entry in entries.items():
        unknown = sorted(set(entry) - known)
        if unknown:
            raise BadInputError(f"{path}: task {name} has the unknown key {unknown[0]}; correct its spelling")
        settings: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        try:
            tasks[name] = Task(name=name, **settings)
        except TypeError as error:
            raise BadInputError(
                f"{path}: task {name} is incomplete ({error}); add what is missing"
            ) from error
    return tasks


def choose_tasks(registry: dict[str, Task], names: Iterable[str]) -> list[Task]:
    """The tasks behind names of tasks, suites (`sts`, `transfer`, …) and `all`, in the registry's order.

    Raises
    ------
    UsageError
        If a name is neither a task nor a suite.
    """
    chosen: set[str] = set()
    suites = sorted({suite for task in registry.values() for suite in task.suites})
    for name in names:
        members = {
            task.name for task in registry.values() if name in task.suites or name in ("all", task.name)
        }
        if not members:
            raise UsageError(
                f"unknown task {name!r}; tasks are {', '.join(registry)}; suites are {', '.join(suites)}, all"
            )
        chosen |= members
    return [task for task in registry.values() if task.name in chosen]


def read_table(task: Task, data: Path, *, any_data: bool = False) -> Table:
    """Read and check a task's file.

    Parameters
    ----------
    task
        Entry of the registry.
    data
        The data folder.
    any_data
        Accept a file whose digest differs from the registry's. Its counts are asserted all the same.

    Raises
    ------
    MissingError
        If the file is not there.
    BadInputError
        If digest, header, row width, text or counts are not what the registry says; the message names which.
    """
    path = data / task.file
    if not path.is_file():
        raise MissingError(
            f"{task.title}: {path} does not exist; run `make data` where there is network, or put the "
            f"set there as gzip TSV with the columns {', '.join(task.columns)}"
        )
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    try:
        content = gzip.decompress(raw)
        lines = content.decode("utf-8").split("\n")
    except (OSError, EOFError, ValueError) as error:
        raise BadInputError(
            f"{path} is not readable gzip UTF-8 ({error}); fetch it again: `make data`"
        ) from error
    accepted = {task.sha256, task.content_sha256} - {""}
    checked = bool(accepted & {digest, hashlib.sha256(content).hexdigest()})
    if accepted and not checked and not any_data:
        raise BadInputError(
            f"{path} is not the file that the registry describes (sha256 {digest[:12]}… instead of "
            f"{task.sha256[:12]}…); restore it, or score it all the same with --any-data"
        )
    if lines and not lines[-1]:
        lines.pop()
    header = tuple(lines[0].split("\t")) if lines else ()
    if header != task.columns:
        raise BadInputError(
            f"{path} has the columns {', '.join(header)} instead of {', '.join(task.columns)}"
        )
    rows = [line.split("\t") for line in lines[1:]]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise BadInputError(
                f"{path}, line {number}: {len(row)} fields instead of {len(header)}; fetch it again"
            )
    if task.protocol == "sts":  # some years' files carry pairs that nobody scored
        gold = header.index(task.label_column)
        rows = [row for row in rows if row[gold].strip() not in ("", "nan", "NaN")]
    columns = {name: [row[index] for row in rows] for index, name in enumerate(header)}
    table = Table(task, columns, digest, checked)
    _check_counts(table, path)
    return table


def _check_counts(table: Table, path: Path) -> None:
    task = table.task
    seen = dict(Counter(table.columns["split"]))
    if seen != task.counts:
        raise BadInputError(
            f"{path} has {_counts(seen)} rows instead of {_counts(task.counts)}; fetch it again"
        )
    if task.subsets:
        subsets = dict(Counter(table.select(task.subset_column, task.split)))
        if subsets != task.subsets:
            raise BadInputError(
                f"{path} has the subsets {_counts(subsets)} instead of {_counts(task.subsets)}"
            )
    if task.classes and not task.minimum_class:
        classes = len(set(table.columns[task.label_column]))
        if classes != task.classes:
            raise BadInputError(f"{path} has {classes} classes instead of {task.classes}; fetch it again")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "no"


def read_pairs(task: Task, data: Path, *, any_data: bool = False) -> Pairs:
    """The scored pairs of an STS task.

    Raises
    ------
    MissingError, BadInputError
        As `read_table`; also for a gold score outside the task's range.
    """
    return pairs_of(read_table(task, data, any_data=any_data))


def pairs_of(table: Table) -> Pairs:
    """The scored pairs of an STS table; a gold score outside the task's range is a `BadInputError`."""
    task = table.task
    first, second = (table.select(column, task.split) for column in task.text_columns)
    gold = np.array([_gold(value, task) for value in table.select(task.label_column, task.split)])
    subsets = table.select(task.subset_column, task.split) if task.subset_column else ["all"] * len(gold)
    return Pairs(first, second, gold, subsets)


def _gold(value: str, task: Task) -> float:
    try:
        score = float(value)
    except ValueError:
        score = math.nan
    low, high = task.gold_range
    if not low <= score <= high:
        raise BadInputError(
            f"{task.file}: gold score {value!r} is not between {low} and {high}; fetch it again"
        )
    return score


def texts_of(table: Table, splits: Sequence[str] | None = None) -> list[str]:
    """Every sentence of a table (all its text columns), of all splits or of those named."""
    return [
        text
        for column in table.task.text_columns
        for text, split in zip(table.columns[column], table.columns["split"], strict=True)
        if splits is None or split in splits
    ]


def as_dict(task: Task) -> dict[str, Any]:
    """A task as plain values, for `--list --json`."""
    return dataclasses.asdict(task)
