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
    """Sentence pairs; all four attributes are of one length.

    Attributes
    ----------
    first, second : list of str
        The sentences.
    gold : numpy.ndarray
        Similarity of each pair, shape (pairs,), in the task's range.
    subsets : list of str
        The subset each pair is from.
    """

    first: list[str]
    second: list[str]
    gold: np.ndarray
    subsets: list[str]


def read_pairs(task: Task, data: Path, *, any_data: bool = False) -> Pairs:
    """Read the pairs of a task.

    Parameters
    ----------
    task : Task
        A task whose gold is a number.
    data : pathlib.Path
        The data folder.
    any_data : bool
        Accept a file whose digest differs from the registry's.

    Returns
    -------
    Pairs
        Those of the split that is scored.

    Raises
    ------
    MissingError, BadInputError
        As `read_table`; also for a gold score outside the task's range.
    """
    return pairs_of(read_table(task, data, any_data=any_data))


def pairs_of(table: Table) -> Pairs:
    """The pairs of a table's scored split.

    Parameters
    ----------
    table : Table
        Of a task with two text columns, whose gold is a number.

    Raises
    ------
    BadInputError
        If a gold score is outside the task's range, or there are not two text columns.
    """
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
