"""What a protocol declares about itself: the texts it reads, how it scores them, how tables print that."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.contract.options import Options, Progress, Setting
from eval.contract.task_score import TaskScore
from eval.tasks.table import Table, Task

Encode = Callable[[Sequence[str]], np.ndarray]  # n strings in, vectors of shape (n, d) out
Score = Callable[[Table, Encode, Options, Progress], TaskScore]
Cells = dict[str, tuple[float, float]]  # label: (score, deviation), NaN where there is no deviation


def every_split(task: Task) -> Sequence[str]:
    """All splits of a task's file."""
    return tuple(task.counts)


def scored_split(task: Task) -> Sequence[str]:
    """The split that is scored and no other."""
    return (task.split,)


def as_it_is(text: str) -> str:
    """A text as its file has it."""
    return text


def rejoin(text: str) -> str:
    """Whitespace-split and re-joined by single spaces, as SentEval hands sentences to an encoder."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Protocol:
    """How one kind of task is scored; `PROTOCOL` in a file of `eval/protocols`.

    Attributes
    ----------
    score : callable
        Of (table, encode, options, progress), returns a `TaskScore`. The table's texts have gone through
        `prepare`; `encode` knows those of `splits` and may be called with any of them.
    splits : callable
        Of a task, returns the splits whose sentences are encoded: `every_split` or `scored_split`.
    prepare : callable
        How a text is handed to the encoder: `as_it_is` or `rejoin`.
    percent : bool
        Whether the main score is a fraction, which tables print times 100 and plots show; otherwise tables
        print it raw.
    deviates : bool
        Whether tables print a deviation beside the score. That of seeds says something, that of the folds of
        one cross-validation does not.
    rows : callable, optional
        Of the scores by name, returns (score, deviation) by label; tables then have a row for each label, as
        the paper prints them, instead of one row with the main score.
    settings : tuple of Setting
        What the protocol can be told on the command line.
    suffix : str
        Set after a task's title in the name of its result, so that two protocols on one set differ.
    mteb_scores : mapping of str to str
        Names that mteb has for scores, each with ours.
    """

    score: Score
    splits: Callable[[Task], Sequence[str]] = every_split
    prepare: Callable[[str], str] = as_it_is
    percent: bool = True
    deviates: bool = True
    rows: Callable[[Mapping[str, float]], Cells] | None = None
    settings: tuple[Setting, ...] = ()
    suffix: str = ""
    mteb_scores: Mapping[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """What a score is multiplied by in tables."""
        return 100 if self.percent else 1

    def prepared(self, table: Table) -> Table:
        """The table with its texts as they are handed to the encoder."""
        if self.prepare is as_it_is:
            return table
        texts = {name: [*map(self.prepare, table.columns[name])] for name in table.task.text_columns}
        return dataclasses.replace(table, columns=table.columns | texts)

    def sentences(self, table: Table) -> list[str]:
        """Every sentence that is encoded for a task, as it is handed to the encoder; repeats included."""
        return self.prepared(table).every_text(self.splits(table.task))
