"""What reports ask of a kind of stage. A room that makes stages declares its kinds in its file `kinds.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.store.manifest import Stage
from augment_cli.store.store import Store


@dataclass(frozen=True)
class StageKind:
    """A kind of stage: what has made it, and what is to be known of it."""

    maker: str  # as in the settings of its stages (`settings["stage"]`)
    # what its stages have at most, by the usual name of their folder; `store/columns.py` says what each
    # column is
    columns: Mapping[str, pa.Schema] = field(default_factory=dict)
    # of the code that makes it now; None where this package does not know
    version: Callable[[], int | None] = lambda: None
    # given store, stage and the corpus's files where they are named: keys of its settings as they would be
    # now, beside version, libraries and the stages that it was made from
    today: Callable[[Store, Stage, Sequence[str | Path] | None], dict[str, Any]] = (
        lambda store, stage, corpus: {}
    )
    # what it holds, for a card; the maker's name by default
    describe: Callable[[Stage], str] = lambda stage: str(stage.settings["stage"])
    # given store, stage, a part's number and its table: what of it is not as every such stage promises
    # (columns, row ids, offsets, ranges), a line each, whatever the manifest says (`promises.py`)
    check: Callable[[Store, Stage, int, pa.Table], list[str]] = lambda store, stage, index, table: []
    # whether it is part of a data set, and not only what the toolkit works with
    is_for_readers: Callable[[Stage], bool] = lambda stage: True
    has_numbers: bool = False  # whether it holds numbers of each row, of which quantiles tell something
    # given its settings: whether it is continued where the corpus grows (`Settings.by_part`)
    goes_by_part: Callable[[Mapping[str, Any]], bool] = lambda settings: False
    # given store and name: the words behind `augment-cli` that make it again with its options as they were,
    # FOLDER and FILE standing for what the store does not know the place of; None where no command does
    command: Callable[[Store, str], list[str] | None] = lambda store, name: None
