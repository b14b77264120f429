"""The registry of evaluation sets, tasks.toml: one `Task` for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from augment_cli.errors import BadInputError, UsageError
from augment_cli.store.files import read_toml

REGISTRY = Path(__file__).with_name("tasks.toml")


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
