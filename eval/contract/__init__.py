"""What a protocol declares (`Protocol`), is run with (`Options`) and returns (`TaskScore`)."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eval.tasks import Table, Task

Encode = Callable[[Sequence[str]], np.ndarray]  # n strings in, vectors of shape (n, d) out
Cells = dict[str, tuple[float, float]]  # label: (score, deviation), NaN where there is no deviation


@dataclass(frozen=True)
class Setting:
    """A setting of a protocol, which the command offers as an option `--NAME`."""

    name: str  # the option without its dashes
    default: str | bool  # False makes the option a switch
    help: str  # what `--help` says
    # Whether encoder.json, the name of the results' folder (where it is not the default) and the rows of
    # tables state it, so that scores under different values lie side by side.
    recorded: bool = True


@dataclass(frozen=True)
class Options:
    """Settings of a run that are not the encoder's."""

    whiten: bool = False  # whiten each task's embeddings, fitted on that task's own sentences
    jobs: int = 1  # processes for nested cross-validation and the seeds of K-means; no score depends on it
    cache: Path | None = None  # folder of the embedding cache; None keeps nothing
    values: Mapping[str, str | bool] = field(default_factory=dict)  # of protocols' settings, by name
    queries: Encode | None = None  # where queries are put behind another prompt than what is searched

    def value(self, setting: Setting) -> str | bool:
        """The value of a protocol's setting."""
        return self.values.get(setting.name, setting.default)


class Progress:
    """Where a run reports to; this one says nothing."""

    def start(self, what: str, total: int) -> None:
        """Begin to count `total` of something."""

    def advance(self, count: int) -> None:
        """Count some of it as done."""


@dataclass
class TaskScore:
    """The scores of one encoder on one task."""

    # The main score as a fraction (0 to 1, or -1 to 1 for correlations), or raw where the protocol's scores
    # are no percentages; NaN where it is not defined.
    main: float
    scores: dict[str, float]  # every score by name, the main one included
    runs: list[float] = field(default_factory=list)  # the main score of each seed, split or fold
    # Values per example, for the paired bootstrap and the plots: `similarity` and `gold`, or `correct`.
    items: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)  # what the protocol was run with
    notes: list[str] = field(default_factory=list)  # everything out of the ordinary, in words


def undefined(metric: str, reason: str, settings: dict[str, Any] | None = None) -> TaskScore:
    """The score of a task that cannot be scored: NaN for the metric, with the reason as its note."""
    return TaskScore(math.nan, {metric: math.nan}, settings=settings or {}, notes=[reason])


def flaw(*vectors: np.ndarray) -> str:
    """Why embeddings (n, d) cannot be scored at all; empty where they can."""
    return "" if all(np.isfinite(one).all() for one in vectors) else "some embeddings are NaN or infinite"


def caution(vectors: np.ndarray) -> list[str]:
    """What a reader should know about embeddings (n, d) that can be scored, as notes."""
    if len(vectors) > 1 and not np.ptp(vectors, axis=0).any():
        return ["all embeddings are equal (constant encoder)"]
    return []


def every_split(task: Task) -> Sequence[str]:
    """All splits of a task's file."""
    return tuple(task.counts)


def scored_split(task: Task) -> Sequence[str]:
    """The split that is scored and no other."""
    return (task.split,)


def rejoin(text: str) -> str:
    """Whitespace-split and re-joined by single spaces, as SentEval hands sentences to an encoder."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Protocol:
    """How one kind of task is scored; `PROTOCOL` in a file of `eval/protocols`."""

    # The table's texts have gone through `prepare`; the encoder knows those of `splits` and no others.
    score: Callable[[Table, Encode, Options, Progress], TaskScore]
    splits: Callable[[Task], Sequence[str]] = every_split  # whose sentences are encoded; or `scored_split`
    prepare: Callable[[str], str] | None = None  # how a text is handed to the encoder, such as `rejoin`
    # Whether the main score is a fraction, which tables print times 100 and plots show, or printed raw.
    percent: bool = True
    deviates: bool = True  # whether the deviation of its runs says something; that of folds does not
    # Of the scores by name, (score, deviation) by label: tables then have a row for each label, as the paper
    # prints them, instead of one row with the main score.
    rows: Callable[[Mapping[str, float]], Cells] | None = None
    settings: tuple[Setting, ...] = ()  # what the protocol can be told on the command line
    # Set after a task's title in the name of its result, so that two protocols on one set differ.
    suffix: str = ""
    mteb_scores: Mapping[str, str] = field(default_factory=dict)  # mteb's names of scores, each with ours

    @property
    def scale(self) -> int:
        """What a score is multiplied by in tables."""
        return 100 if self.percent else 1

    def prepared(self, table: Table) -> Table:
        """The table with its texts as they are handed to the encoder."""
        if self.prepare is None:
            return table
        texts = {name: [*map(self.prepare, table.columns[name])] for name in table.task.text_columns}
        return dataclasses.replace(table, columns=table.columns | texts)

    def sentences(self, table: Table) -> list[str]:
        """Every sentence that is encoded for a task, as it is handed to the encoder; repeats included."""
        return self.prepared(table).every_text(self.splits(table.task))
