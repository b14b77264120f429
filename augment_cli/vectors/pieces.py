"""Pieces of a part, each a file in `.work/` as soon as it is done, so a kill loses what runs, no more."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

import pyarrow as pa

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
        write_parquet(temporary, with_metadata(table.schema, self._settings.as_json()), [table])
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
