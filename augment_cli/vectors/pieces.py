"""Pieces of a part, each a file in `.work/` as soon as it is done, so a kill loses what runs, no more."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError
from augment_cli.store.files import fsync
from augment_cli.store.parquet import read_parquet, write_parquet
from augment_cli.store.schema import metadata_of, with_metadata
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store


class Pieces:
    """The finished pieces of a stage that is being made.

    They lie under the stage's fingerprint: what a run with other settings left is never read.

    Parameters
    ----------
    store : Store
    stage : str
        Folder of the stage.
    settings : Settings
        What the stage is made with.
    """

    def __init__(self, store: Store, stage: str, settings: Settings) -> None:
        self.folder = store.work / stage / settings.fingerprint[:16]
        self._settings = settings

    def _part(self, index: int) -> Path:
        return self.folder / f"part-{index:05d}"

    def _path(self, index: int, piece: int) -> Path:
        return self._part(index) / f"piece-{piece:05d}.parquet"

    def has(self, index: int, piece: int) -> bool:
        """Whether a piece of a part is finished."""
        return self._path(index, piece).is_file()

    def write(self, index: int, piece: int, table: pa.Table) -> None:
        """Keep a finished piece; once this returns, no kill and no power cut loses it."""
        path = self._path(index, piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own: a worker that outlives a killed run never meets its successor's file.
        temporary = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
        write_parquet(temporary, with_metadata(table.schema, self._settings.as_json()), [table], "none")
        temporary.replace(path)
        fsync(path.parent)

    def read(self, index: int, piece: int, rows: int) -> pa.Table | None:
        """A finished piece of `rows` rows; None, and no file, if it is missing, damaged or foreign."""
        path = self._path(index, piece)
        try:
            table = read_parquet(path)
            written_by = metadata_of(table.schema) or {}
            if table.num_rows == rows and written_by.get("fingerprint") == self._settings.fingerprint:
                return table.replace_schema_metadata(None)
        except (BadInputError, ValueError):
            pass
        path.unlink(missing_ok=True)
        return None

    def remove(self, index: int) -> None:
        """Delete the pieces of a part; it is committed."""
        shutil.rmtree(self._part(index), ignore_errors=True)


def make_parts(
    pieces: Mapping[int, int],
    done: Pieces,
    join: Callable[[int], bool],
    engine: Engine,
    task: str,
    arguments: Mapping[str, Any],
    progress: Callable[[int], None],
) -> None:
    """Make the pieces that are missing, and commit each part as it becomes complete.

    Parameters
    ----------
    pieces : mapping of int to int
        How many pieces each missing part has.
    done : Pieces
        Those that are finished.
    join : callable
        Commits a part if all of its pieces are there, and says whether it did.
    engine : Engine
    task : str
        `package.module:function` that makes one piece, given `index` and `piece`, and returns its rows.
    arguments : mapping of str to Any
        What else the function gets.
    progress : callable
        Called with the number of rows done since the last call.
    """
    waiting = sorted(pieces)

    def commit_what_is_complete() -> None:
        for index in list(waiting):
            if join(index):
                done.remove(index)
                waiting.remove(index)

    def count(rows: int) -> None:
        progress(rows)
        commit_what_is_complete()

    commit_what_is_complete()  # a run may have ended between the last piece and the commit
    while waiting:  # again where a finished piece turned out to be damaged
        calls = [
            {**arguments, "index": index, "piece": piece}
            for index in waiting
            for piece in range(pieces[index])
            if not done.has(index, piece)
        ]
        engine.run(task, calls, count, unit="pieces")
        commit_what_is_complete()
