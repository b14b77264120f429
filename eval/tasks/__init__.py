"""Evaluation sets: the registry tasks.toml, and rows whose digest, header and counts are checked."""

import dataclasses
import gzip
import hashlib
import io
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.store.files import read_toml

REGISTRY = Path(__file__).with_name("tasks.toml")
OWN = Path(__file__).with_name("own.toml")  # of files that are in no data folder
_MOST_BYTES = 1 << 30  # of a set; the largest that papers score on has 200 MB
NO_GOLD = ("", "nan", "NaN")  # how files write that nobody scored a row


@dataclass(frozen=True)
class Task:
    """One evaluation set, as tasks.toml states it."""

    name: str  # what the command calls it, and what tables print
    title: str
    protocol: str  # which protocol scores it: a file of `eval/protocols`, with a dash for each underscore
    file: str  # path under the data folder
    columns: tuple[str, ...]  # the file's header, exactly
    counts: dict[str, int]  # rows per split that must remain once rows without gold are dropped
    split: str  # the split that is scored; `all` means that there is no official split
    metric: str  # the main score, one of those the protocol reports
    text_columns: tuple[str, ...]  # where the sentences are: one column, or two for pairs
    label_column: str  # where the gold label or score is
    subset_column: str = ""  # where the name of a row's subset is; empty where there are no subsets
    subsets: dict[str, int] = field(default_factory=dict)  # how many scored rows each subset must have
    # lowest and highest gold score; both are 0 where gold is a label
    gold_range: tuple[float, float] = (0.0, 0.0)
    minimum_class: int = 0  # smallest number of examples (train and dev together) with which a class is kept
    classes: int = 0  # number of classes that must remain; 0 asserts nothing
    # digest of the file the counts were checked on, compressed and decompressed; either will do
    sha256: str = ""
    content_sha256: str = ""
    mteb_name: str = ""  # name of the mteb task with the same data and protocol, where there is one
    language: str = "eng-Latn"  # language and script, as mteb writes them
    suites: tuple[str, ...] = ()  # names under which the command offers this task together with others

    @property
    def graded(self) -> bool:
        """Whether gold is a number within `gold_range` and not a label."""
        return self.gold_range[0] < self.gold_range[1]


def load_registry(path: Path = REGISTRY) -> dict[str, Task]:
    """Read the registry."""
    try:
        entries = read_toml(path)
    except FileNotFoundError:
        raise UsageError(f"--registry {path}: no such file; correct the path") from None
    known = {item.name for item in dataclasses.fields(Task)} - {"name"}
    tasks = {}
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise BadInputError(f"{path}: {name} is not a table; write a task as [{name}]")
        unknown = sorted(set(entry) - known)
        if unknown:
            raise BadInputError(f"{path}: task {name} has the unknown key {unknown[0]}; correct its spelling")
        try:
            task = tasks[name] = msgspec.convert({"name": name, **entry}, Task)
        except msgspec.ValidationError as error:
            raise BadInputError(
                f"{path}: task {name} is incomplete or has a value of another kind ({error}); correct it"
            ) from error
        named = ("split", *task.text_columns, task.label_column, task.subset_column)
        if lacking := [column for column in named if column and column not in task.columns]:
            raise BadInputError(
                f"{path}: task {name} names the column {lacking[0]!r}, which is not among its columns; "
                "correct its spelling"
            )
    return tasks


def own_task(kind: str, **known: Any) -> Task:
    """A task of `own.toml`, with what is known of it now."""
    return dataclasses.replace(load_registry(OWN)[kind], **known)


def choose_tasks(registry: dict[str, Task], names: Iterable[str]) -> list[Task]:
    """The tasks behind names of tasks, suites (`sts`, `transfer`, …) and `all`."""
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


@dataclass(frozen=True)
class Table:
    """A task's rows as columns of strings."""

    task: Task  # what the rows belong to
    columns: dict[str, list[str]]  # the values of each column, all of one length
    sha256: str  # digest of the file they came from
    checked: bool  # whether that is a digest that the registry states

    def select(self, column: str, split: str) -> list[str]:
        """The values of a column in the rows of one split."""
        pairs = zip(self.columns[column], self.columns["split"], strict=True)
        return [value for value, row_split in pairs if row_split == split]

    def texts(self, *splits: str) -> list[str]:
        """The sentences of splits, one split after the other, of a task with one text column."""
        if len(self.task.text_columns) != 1:
            raise BadInputError(
                f"task {self.task.name} is one of single texts; give its entry one text column"
            )
        (column,) = self.task.text_columns
        return [text for split in splits for text in self.select(column, split)]

    def labels(self, *splits: str) -> np.ndarray:
        """The labels beside `texts`, shape (n,)."""
        return np.array([label for split in splits for label in self.select(self.task.label_column, split)])

    def every_text(self, splits: Sequence[str]) -> list[str]:
        """The sentences of all text columns in the rows of `splits`, column by column in the file's order."""
        return [
            text
            for column in self.task.text_columns
            for text, split in zip(self.columns[column], self.columns["split"], strict=True)
            if split in splits
        ]


def read_tables(
    tasks: Sequence[Task], data: Path, *, any_data: bool = False, skip_missing: bool = False
) -> tuple[list[Table], list[str]]:
    """Read the files of all tasks before anything is encoded."""
    tables, missing = [], []
    for task in tasks:
        try:
            tables.append(read_table(task, data, any_data=any_data))
        except MissingError as error:
            missing.append(str(error))
    if missing and not (skip_missing and tables):
        hint = "" if not tables else "\nto score the rest all the same, add --skip-missing"
        raise MissingError("\n".join(missing) + hint)
    return tables, missing


def read_table(task: Task, data: Path, *, any_data: bool = False) -> Table:
    """Read and check a task's file."""
    path = data / task.file
    if not path.is_file():
        raise MissingError(
            f"{task.title}: {path} does not exist; run `make data` where there is network, or put the "
            f"set there as gzip TSV with the columns {', '.join(task.columns)}"
        )
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    try:
        content = gunzip(raw)
        lines = content.decode("utf-8").split("\n")
    except (OSError, EOFError, ValueError, zlib.error) as error:
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
    rows = _rows(lines, task, path)
    if task.graded:
        gold = task.columns.index(task.label_column)
        rows = [row for row in rows if row[gold].strip() not in NO_GOLD]
    columns = {name: [row[index] for row in rows] for index, name in enumerate(task.columns)}
    table = Table(task, columns, digest, checked)
    _check_counts(table, path)
    return table


def gunzip(data: bytes) -> bytes:
    """The bytes that a gzip file of an evaluation set holds."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it unpacks to more than {_MOST_BYTES >> 30} GiB")
    return content


def _rows(lines: list[str], task: Task, path: Path) -> list[list[str]]:
    if lines and not lines[-1]:
        lines = lines[:-1]
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
    return rows


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


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs; all four attributes are of one length."""

    first: list[str]  # the sentences
    second: list[str]
    gold: np.ndarray  # similarity of each pair, shape (pairs,), in the task's range
    subsets: list[str]  # the subset each pair is from


def pairs_of(table: Table) -> Pairs:
    """The pairs of a table's scored split."""
    task = table.task
    if len(task.text_columns) != 2:
        raise BadInputError(f"task {task.name} is one of pairs; give its entry two text_columns")
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
            f"{task.file}: gold score {value!r} is not between {low:g} and {high:g}; fetch it again"
        )
    return score
