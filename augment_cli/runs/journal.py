"""The journal of a part that a model is making: every finished batch is a file, so no kill loses it.

It is in `.work/<stage>/part-NNNNN/`: `plan.json`, which rows each batch has and the stage's fingerprint,
and one Parquet file for each finished batch with the rows as the stage will hold them. A file at a batch's
name is complete; the name has its digest, since a Parquet file's own checksums leave out its last part.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.store.files import fsync, sha256_of_file, write_atomically
from augment_cli.store.parquet import read_parquet, write_parquet
from augment_cli.store.schema import METADATA_KEY

_SPLITS_KEY = b"splits"


class Journal:
    """The journal of one part.

    Parameters
    ----------
    work : Path
        The store's folder of temporary files.
    stage : str
    index : int
        Of the part.
    fingerprint : str
        Of the stage's settings. A journal of other settings counts as none.
    """

    def __init__(self, work: Path, stage: str, index: int, fingerprint: str) -> None:
        self._folder = work / stage / f"part-{index:05d}"
        self._fingerprint = fingerprint

    # --- which batches there are

    def batches(self) -> list[np.ndarray] | None:
        """The batches fixed at the start, int64 positions of rows in the part; None if there are none."""
        try:
            value = json.loads((self._folder / "plan.json").read_bytes())
            if value["fingerprint"] == self._fingerprint:
                return [np.array(batch, np.int64) for batch in value["batches"]]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass
        return None

    def begin(self, batches: Sequence[np.ndarray]) -> None:
        """Fix the batches; whatever other settings left here goes first."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        value = {"fingerprint": self._fingerprint, "batches": [batch.tolist() for batch in batches]}
        write_atomically(self._folder / "plan.json", json.dumps(value).encode(), self._folder)

    # --- finished batches

    def _files(self, number: int) -> list[Path]:
        return list(self._folder.glob(f"batch-{number:06d}-*.parquet"))

    def has(self, number: int) -> bool:
        """Whether a batch is finished."""
        return bool(self._files(number))

    def finished(self) -> set[int]:
        """Numbers of the finished batches."""
        return {int(path.stem.split("-")[1]) for path in self._folder.glob("batch-*-*.parquet")}

    def write(self, number: int, table: pa.Table, splits: int) -> None:
        """Keep a finished batch; once this returns, no kill and no power cut loses it."""
        metadata = {METADATA_KEY: self._fingerprint.encode(), _SPLITS_KEY: str(splits).encode()}
        schema = table.schema.with_metadata(metadata)
        temporary = self._folder / f"{number:06d}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        write_parquet(temporary, schema, [table])
        digest = sha256_of_file(temporary)
        temporary.replace(self._folder / f"batch-{number:06d}-{digest}.parquet")
        fsync(self._folder)

    def read(self, number: int) -> tuple[pa.Table, int] | None:
        """A finished batch and how often memory made it be cut; None, and no file, if it is damaged."""
        for path in self._files(number):
            if path.stem.endswith(sha256_of_file(path)):
                table = read_parquet(path)
                metadata: dict[bytes, Any] = table.schema.metadata or {}
                if metadata.get(METADATA_KEY) == self._fingerprint.encode():
                    return table.replace_schema_metadata(None), int(metadata[_SPLITS_KEY])
            path.unlink(missing_ok=True)
        return None

    def remove(self) -> None:
        """Delete the journal; its part is committed."""
        shutil.rmtree(self._folder, ignore_errors=True)
