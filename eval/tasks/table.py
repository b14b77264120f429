"""The rows of an evaluation set, read from its file; digest, header, row width and counts are all checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.errors import BadInputError, MissingError
from eval.tasks.registry import Task

_MOST_BYTES = 1 << 30  # of a set; the largest that papers score on has 200 MB
NO_GOLD = ("", "nan", "NaN")  # how files write that nobody scored a row


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
