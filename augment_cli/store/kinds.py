"""What reports ask of a kind of stage. A room that makes stages declares its kinds in its file `kinds.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.store.manifest import Stage
from augment_cli.store.store import Store


def _nothing(store: Store, stage: Stage, corpus: Sequence[str | Path] | None) -> dict[str, Any]:
    return {}


def _no_problem(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    return []


@dataclass(frozen=True)
class StageKind:
    """A kind of stage: what has made it, and what is to be known of it.

    Parameters
    ----------
    maker : str
        As in the settings of its stages (`settings["stage"]`).
    columns : mapping of str to pyarrow.Schema
        What its stages have at most, by the usual name of their folder; `store/columns.py` says what each
        column is.
    version : callable
        Of the code that makes it today; None where this package does not know.
    today : callable
        Given store, stage and the corpus's files where they are named: keys of its settings as they would be
        today, beside version, libraries and the stages that it was made from.
    describe : callable
        What it holds, for a card; the maker's name by default.
    check : callable
        Given store, stage, a part's number and its table: what of it is not as every such stage promises
        (columns, row ids, offsets, ranges), a line each, whatever the manifest says (`promises.py`).
    is_for_readers : callable
        Whether it is part of a data set, and not only what the toolkit works with.
    has_numbers : bool
        Whether it holds numbers of each row, of which quantiles tell something.
    goes_by_part : callable
        Given its settings: whether it is continued where the corpus grows (`Settings.by_part`).
    command : callable
        Given store and name: the words behind `augment-cli` that make it again with its options as they were,
        FOLDER and FILE standing for what the store does not know the place of; None where no command does.
    """

    maker: str
    columns: Mapping[str, pa.Schema] = field(default_factory=dict)
    version: Callable[[], int | None] = lambda: None
    today: Callable[[Store, Stage, Sequence[str | Path] | None], dict[str, Any]] = _nothing
    describe: Callable[[Stage], str] = lambda stage: str(stage.settings["stage"])
    check: Callable[[Store, Stage, int, pa.Table], list[str]] = _no_problem
    is_for_readers: Callable[[Stage], bool] = lambda stage: True
    has_numbers: bool = False
    goes_by_part: Callable[[Mapping[str, Any]], bool] = lambda settings: False
    command: Callable[[Store, str], list[str] | None] = lambda store, name: None
