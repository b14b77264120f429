"""A store: a folder of stages, each a folder of Parquet parts, and the manifest that vouches for them.

```
store/
  manifest.json        which stages, which parts, their digests and settings
  corpus/part-00000.parquet …
  una/part-00000.parquet …
  .work/               temporary files; the lock of the running command
```

A file at a part's name is complete. The manifest entry of a part is written after the file; a part
without an entry is made again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.files import exclusive_lock, fsync, sha256_of_file, sha256_of_json, write_atomically
from augment_cli.parquet import describe, read_parquet, write_parquet
from augment_cli.schema import SCHEMA_VERSION, metadata_of, with_metadata
from augment_cli.settings import Settings, differences

if TYPE_CHECKING:
    import polars

_STAGE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*", re.ASCII)


def part_name(index: int) -> str:
    """File name of a part: `part-00000.parquet`, `part-00001.parquet`, …"""
    return f"part-{index:05d}.parquet"


@dataclass(frozen=True)
class Part:
    """A finished part as the manifest records it.

    `statistics` holds small sums over the part (JSON values) that reports add up.
    """

    rows: int
    bytes: int
    sha256: str
    statistics: dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """A stage as the manifest records it: its settings, how many parts it has, and those finished."""

    name: str
    settings: dict[str, Any]
    expected_parts: int
    parts: dict[int, Part]

    @property
    def is_complete(self) -> bool:
        """Whether every part is there."""
        return len(self.parts) == self.expected_parts

    @property
    def rows(self) -> int:
        """Rows in the finished parts."""
        return sum(part.rows for part in self.parts.values())

    @property
    def bytes(self) -> int:
        """Size of the finished parts on disk."""
        return sum(part.bytes for part in self.parts.values())

    @property
    def digest(self) -> str:
        """SHA-256 over the parts' digests, in order: what later stages record as their input."""
        return sha256_of_json([self.parts[index].sha256 for index in sorted(self.parts)])


@dataclass(frozen=True)
class PendingPart:
    """A part written and closed in `.work/`, not yet committed. Workers return these to the parent."""

    stage: str
    index: int
    path: Path
    part: Part


class Store:
    """An output folder of parts. Open one with `Store.open`, or `Store.create` for a new one."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self._plan: list[tuple[int, int]] = [tuple(pair) for pair in manifest["parts"]]
        self._stages = {name: _stage_from_json(name, value) for name, value in manifest["stages"].items()}

    # --- opening

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open an existing store.

        Raises
        ------
        BadInputError
            If the folder is no store, or its manifest cannot be read.
        """
        folder = Path(path)
        try:
            manifest = json.loads((folder / "manifest.json").read_bytes())
        except FileNotFoundError:
            raise BadInputError(
                f"{folder}: no store here (no manifest.json); make one with "
                f"`augment-cli ingest --corpus FILE --store {folder}`"
            ) from None
        except (OSError, ValueError) as error:
            raise BadInputError(
                f"{folder / 'manifest.json'}: cannot be read ({error}); restore it from a copy, "
                "or delete the store and run again"
            ) from error
        if manifest.get("schema") != SCHEMA_VERSION:
            raise MixError(
                f"{folder}: written with store schema {manifest.get('schema')}, this version reads "
                f"{SCHEMA_VERSION}; use another --store"
            )
        try:
            return cls(folder, manifest)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInputError(
                f"{folder / 'manifest.json'}: not a manifest of ours ({error!r}); restore it from a copy, "
                "or delete the store and run again"
            ) from error

    @classmethod
    def create(cls, path: str | Path) -> Store:
        """Open the store at `path`, or prepare an empty one (nothing is written before the first commit)."""
        folder = Path(path)
        if (folder / "manifest.json").exists():
            return cls.open(folder)
        if folder.exists() and not folder.is_dir():
            raise BadInputError(f"{folder}: is a file, a store is a folder; choose another --store")
        if folder.exists() and any(entry.name != ".work" for entry in folder.iterdir()):
            raise BadInputError(
                f"{folder}: is a folder with other files and no manifest.json; choose another --store"
            )
        return cls(folder, {"parts": [], "stages": {}})

    # --- what is there

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The part plan shared by all row-wise stages: (first row_id, number of rows) of each part."""
        return list(self._plan)

    @property
    def rows(self) -> int:
        """Number of rows of the corpus."""
        return sum(rows for _, rows in self._plan)

    def stages(self) -> list[str]:
        """Names of the stages begun or finished, in the order in which they were begun."""
        return list(self._stages)

    def has(self, stage: str) -> bool:
        """Whether a stage is there and complete."""
        return stage in self._stages and self._stages[stage].is_complete

    def stage(self, name: str) -> Stage:
        """The manifest's record of a stage.

        Raises
        ------
        UsageError
            If there is no such stage.
        """
        if name not in self._stages:
            known = ", ".join(self._stages) or "none"
            raise UsageError(f"{self.path}: has no stage {name!r}; it has {known}")
        return self._stages[name]

    def part_path(self, stage: str, index: int) -> Path:
        """Where a part lies, or will lie."""
        if not _STAGE_NAME.fullmatch(stage):
            raise UsageError(f"{stage!r} is no stage name; use lower-case letters, digits, '.', '_' and '-'")
        return self.path / stage / part_name(index)

    # --- reading

    def read_part(
        self,
        stage: str,
        index: int,
        columns: Sequence[str] | None = None,
        row_groups: Sequence[int] | None = None,
    ) -> pa.Table:
        """Read a part (or some of its columns and row groups of 8,192 rows), page checksums verified."""
        if index not in self.stage(stage).parts:
            raise BadInputError(
                f"{self.path}: part {index} of stage {stage!r} is not finished; run the stage again to resume"
            )
        return read_parquet(self.part_path(stage, index), columns, row_groups)

    def read(self, stage: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a whole stage as an Arrow table, rows in corpus order, page checksums verified."""
        record = self.stage(stage)
        if not record.is_complete:
            raise BadInputError(
                f"{self.path}: stage {stage!r} has {len(record.parts)} of {record.expected_parts} parts; "
                "run it again to finish it"
            )
        return pa.concat_tables(self.read_part(stage, index, columns) for index in sorted(record.parts))

    def frame(self, stage: str, columns: Sequence[str] | None = None) -> polars.DataFrame:
        """Read a whole stage as a polars data frame, page checksums verified."""
        import polars

        frame = polars.from_arrow(self.read(stage, columns))
        assert isinstance(frame, polars.DataFrame)
        return frame

    # --- writing (one process at a time, inside `with store.lock()`)

    @property
    def work(self) -> Path:
        """Folder for temporary files, on the store's own file system."""
        return self.path / ".work"

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Exclude other writers from this store for the length of a `with` block."""
        return exclusive_lock(self.work / "lock")

    def begin(self, name: str, settings: Settings, expected_parts: int | None = None) -> list[int]:
        """Announce a stage and learn which of its parts are still to be made.

        Parameters
        ----------
        name : str
            Folder of the stage, such as `una` or `una.1`.
        settings : Settings
            What it will be made with.
        expected_parts : int, optional
            Number of parts; the corpus' part plan by default.

        Raises
        ------
        MixError
            If the stage exists with other settings; the message names the first differing key.
        """
        wanted = settings.as_json()
        self.part_path(name, 0)  # refuses an impossible name
        if (record := self._stages.get(name)) is not None:
            if record.settings["fingerprint"] != wanted["fingerprint"]:
                key, there, now = next(differences(record.settings, wanted))
                raise MixError(
                    f"{self.path / name}: made with {key} = {there}, now {now}; nothing was changed. "
                    f"Use the same settings, write beside it with --name, or remove it with "
                    f"`augment-cli remove {name} --store {self.path}`"
                )
            return [index for index in range(record.expected_parts) if index not in record.parts]
        count = len(self._plan) if expected_parts is None else expected_parts
        self._stages[name] = Stage(name, wanted, count, {})
        return list(range(count))

    def write_part(
        self,
        name: str,
        index: int,
        schema: pa.Schema,
        batches: Iterable[pa.Table | pa.RecordBatch],
        settings: Settings,
        statistics: dict[str, Any] | None = None,
    ) -> PendingPart:
        """Write a part into `.work/` (any process may), to be committed by the parent.

        `statistics` may be filled while the batches are drawn; it is read after the last of them.
        """
        folder = self.work / "parts" / name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / part_name(index)
        rows = write_parquet(path, with_metadata(schema, settings.as_json()), batches)
        part = Part(rows, path.stat().st_size, sha256_of_file(path), dict(statistics or {}))
        return PendingPart(name, index, path, part)

    def commit(self, pending: PendingPart) -> None:
        """Check a written part, move it to its name, and enter it in the manifest."""
        record = self._stages[pending.stage]
        rows, schema = describe(pending.path)
        written_by = metadata_of(schema)
        if sha256_of_file(pending.path) != pending.part.sha256 or rows != pending.part.rows:
            raise BadInputError(
                f"{pending.path}: changed between writing and committing; the disk or another program "
                "altered it. Run the same command again"
            )
        if written_by is None or written_by["fingerprint"] != record.settings["fingerprint"]:
            raise MixError(f"{pending.path}: was written for another run; run the same command again")
        target = self.part_path(pending.stage, pending.index)
        target.parent.mkdir(parents=True, exist_ok=True)
        pending.path.replace(target)
        fsync(target.parent)
        record.parts[pending.index] = pending.part
        self._write_manifest()

    def set_plan(self, plan: Iterable[tuple[int, int]]) -> None:
        """Fix the part plan: (first row_id, rows) of each part. Ingest does, before its first commit."""
        self._plan = list(plan)

    def remove(self, name: str) -> None:
        """Delete a stage: first its manifest entry, then its files."""
        self.stage(name)
        del self._stages[name]
        self._write_manifest()
        shutil.rmtree(self.path / name, ignore_errors=True)

    def clean_work(self, name: str) -> None:
        """Delete a stage's temporary files."""
        shutil.rmtree(self.work / "parts" / name, ignore_errors=True)
        shutil.rmtree(self.work / name, ignore_errors=True)

    def _write_manifest(self) -> None:
        value = {
            "schema": SCHEMA_VERSION,
            "parts": self._plan,
            "stages": {name: _stage_as_json(stage) for name, stage in self._stages.items()},
        }
        data = json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"
        write_atomically(self.path / "manifest.json", data, self.work)


def plan_parts(rows: int, part_rows: int) -> list[tuple[int, int]]:
    """Cut `rows` rows into parts: (first row_id, rows) of each. No rows make one empty part."""
    firsts = range(0, rows, part_rows) or [0]
    return [(first, min(part_rows, rows - first)) for first in firsts]


def row_group_slices(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """Cut a table into slices of at most `rows` rows."""
    for start in itertools.chain([0], range(rows, table.num_rows, rows)):
        yield table.slice(start, rows)


def _stage_as_json(stage: Stage) -> dict[str, Any]:
    return {
        "settings": stage.settings,
        "expected_parts": stage.expected_parts,
        "parts": {str(index): vars(stage.parts[index]) for index in sorted(stage.parts)},
    }


def _stage_from_json(name: str, value: dict[str, Any]) -> Stage:
    if not _STAGE_NAME.fullmatch(name):
        raise ValueError(f"stage name {name!r}")
    parts = {int(index): Part(**part) for index, part in value["parts"].items()}
    return Stage(name, value["settings"], int(value["expected_parts"]), parts)
