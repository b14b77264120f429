"""Sentence pairs with a gold similarity: the rows of an STS set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.errors import BadInputError
from eval.tasks.registry import Task
from eval.tasks.table import Table, read_table


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs; all four attributes are of one length."""

    first: list[str]  # the sentences
    second: list[str]
    gold: np.ndarray  # similarity of each pair, shape (pairs,), in the task's range
    subsets: list[str]  # the subset each pair is from


def read_pairs(task: Task, data: Path, *, any_data: bool = False) -> Pairs:
    """Read the pairs of a task."""
    return pairs_of(read_table(task, data, any_data=any_data))


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
