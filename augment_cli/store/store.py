"""A store opened, written to and committed to: folders of parts, `manifest.json`, and `.work/` for the rest.

A file at a part's name is complete. The manifest entry of a part is written after the file; a part
without an entry is made again.
"""

import contextlib
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from msgspec.structs import replace

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.errors.visible import is_address, shown
from augment_cli.store.contents import StoreContents, parts_before, remember_verified
from augment_cli.store.files import (
    fsync,
    hold_lock,
    refuse_links,
    refuse_special,
    sha256_of_file,
    unlike_any,
    write_atomically,
)
from augment_cli.store.journal import APPEND, REMOVAL, finish_removal, note_append, note_removal, undo_append
from augment_cli.store.manifest import PART_NAME, Earlier, Part, Stage, dump_manifest, read_manifest
from augment_cli.store.parquet import describe, metadata_of, with_metadata, write_parquet
from augment_cli.store.refusals import OptionOf, option_of, refusal
from augment_cli.store.settings import Settings

_SECONDS_TOGETHER = 1.0  # between two writings of the manifest, where commits share it


@dataclass(frozen=True)
class PendingPart:
    """A part written and closed in `.work/`, not yet committed. Workers return these to the parent."""

    stage: str
    index: int
    path: Path
    part: Part


class Store(StoreContents):
    """An output folder of parts. Open one with `Store.open`, or `Store.create` for a new one."""

    _is_shared = False  # whether several processes write together
    _enters_together = False  # whether commits may share one writing of the manifest
    _has_to_enter = False  # whether there are parts that it does not name yet
    _enter_later_until = 0.0  # monotonic seconds

    # --- opening

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing store.

        Raises
        ------
        BadInputError
            If the folder is not a store, or its manifest cannot be read.
        """
        folder = _readable(Path(path))
        place = folder / "manifest.json"
        remedy = "restore it from a copy, or delete the store and run again"
        try:
            refuse_special(place)
            data = place.read_bytes()
        except FileNotFoundError:
            raise BadInputError(
                f"{folder}: no store here (no manifest.json); make one with "
                f"`augment-cli ingest --corpus FILE --store {folder}`"
            ) from None
        except (OSError, ValueError) as error:
            raise BadInputError(f"{place}: cannot be read ({error}); {remedy}") from error
        manifest = read_manifest(data, str(place), remedy)
        return cls(folder, manifest.row_ranges, manifest.stages)

    @classmethod
    def create(cls, path: str | Path) -> Self:
        """Open the store at `path`, or prepare an empty one (nothing is written before the first commit)."""
        folder = _readable(Path(path))
        if (folder / "manifest.json").exists():
            return cls.open(folder)
        if folder.exists() and not folder.is_dir():
            raise BadInputError(f"{folder}: is a file, a store is a folder; choose another --store")
        if folder.exists() and any(entry.name != ".work" for entry in folder.iterdir()):
            raise BadInputError(
                f"{folder}: is a folder with other files and no manifest.json; choose another --store"
            )
        return cls(folder, [], {})

    # --- writing (one process at a time, inside `with store.lock()`)

    @contextlib.contextmanager
    def lock(self, shared: bool = False, wait: bool = False) -> Iterator[None]:
        """Exclude other writers from this store for the length of a `with` block.

        With `wait`, a writer that is there is waited for; `reload` then shows what it wrote.

        With `shared`, several processes that make different parts of one stage may write together
        (`--parts`), each excluding writers of the other kind; their commits take turns.
        """
        refuse_links(self.work, self.path)
        with hold_lock(self.work / "lock", shared, wait):
            self._is_shared = shared
            if (self.work / APPEND).exists():
                self.reload()
                undo_append(self.path, self.work, self._stages)
            if (self.work / REMOVAL).exists():
                with self._commits_alone():
                    self.reload()
                    finish_removal(self.path, self.work, self._stages)
            if not shared:
                # Orphans of killed runs; what an unfinished stage keeps for its next run is spared.
                for name in ("parts", "stdin", "texts", *filter(self.has, self._stages)):
                    shutil.rmtree(self.work / name, ignore_errors=True)
            yield

    def reload(self) -> None:
        """Read the manifest again: others may have written since."""
        fresh = Store.create(self.path)
        self._row_ranges, self._stages = fresh._row_ranges, fresh._stages

    def begin(
        self,
        name: str,
        settings: Settings,
        expected_parts: int | None = None,
        beside: str = "write beside it with --name",
        anew: str = "the same command and --overwrite",
        option: OptionOf = option_of,
    ) -> list[int]:
        """Announce a stage and learn which of its parts are still to be made.

        It has `expected_parts`, as many as the corpus by default. Where it exists with other settings, the
        `MixError` names the first key that differs, and what to do: write `beside` it, make it `anew` if
        files were appended since, or give each `option` again.
        """
        current = settings.as_json()
        self.check_name(name, settings.stage)
        if self.continues(name, settings):
            self._continue(name, current)
        if (record := self._stages.get(name)) is not None:
            if record.settings["fingerprint"] != current["fingerprint"]:
                before = self._made_before(record, current)
                raise refusal(
                    record, current, self.path, (before, len(self._row_ranges)), beside, anew, option
                )
            missing = self._missing(record)
            for index in missing:  # a deleted or cut file is made anew
                record.parts.pop(index, None)
            return missing
        count = len(self._row_ranges) if expected_parts is None else expected_parts
        self._stages[name] = Stage(current, count, {}, name=name)
        return list(range(count))

    def continues(self, name: str, settings: Settings) -> bool:
        """Whether a stage with these settings is one that is there, and new parts of the corpus.

        Its finished parts then stay as they are, and only the new ones are made.
        """
        record = self._stages.get(name)
        return (
            record is not None
            and settings.by_part
            and record.settings["fingerprint"] != settings.fingerprint
            and self._made_before(record, settings.as_json()) is not None
        )

    def _made_before(self, record: Stage, current: dict[str, Any]) -> int | None:
        """How many parts the corpus had, if settings differ only in that files were appended to it since."""
        others = current.keys() - {"inputs", "fingerprint"}
        if any(record.settings[key] != current[key] for key in others):
            return None
        return parts_before(self._stages, record.settings["inputs"], current["inputs"])

    def _continue(self, name: str, current: dict[str, Any]) -> None:
        """Enter in the manifest, where workers read it, that further parts have these settings."""
        with self._commits_alone():
            record = self._stages[name]
            parts = self._made_before(record, current)
            is_entered = record.settings["fingerprint"] == current["fingerprint"]  # by another, with --parts
            if parts is not None and not is_entered:
                earlier = (*record.earlier, Earlier(record.settings, parts))
                self._stages[name] = replace(record, settings=current, earlier=earlier)
                self._write_manifest()

    def adopt(self, stage: Stage) -> list[int]:
        """Announce a stage as another store has it, and learn which of its parts are still to be copied."""
        missing = self.begin(stage.name, Settings.of_json(stage.settings), stage.expected_parts)
        self._stages[stage.name] = replace(self._stages[stage.name], earlier=stage.earlier)
        return missing

    def check_name(self, name: str, maker: str) -> None:
        """Refuse a name that no stage can have, or none that `maker` makes."""
        self.part_path(name, 0)  # refuses an impossible name
        if "/" in name and name.split("/")[0] != maker:
            raise UsageError(
                f"{name!r} is not a valid stage name: a folder within a folder is for caches; use lower-case "
                "letters, digits, '.', '_' and '-'"
            )
        for other in self._stages:
            if other.startswith(f"{name}/") or name.startswith(f"{other}/"):
                raise UsageError(f"{name!r} lies inside stage {other!r} or around it; choose another")
        refuse_links(self.path / name, self.path)

    def write_part(
        self,
        name: str,
        index: int,
        schema: pa.Schema,
        tables: Iterable[pa.Table | pa.RecordBatch],
        settings: Settings,
        statistics: dict[str, Any] | None = None,
    ) -> PendingPart:
        """Write a part into `.work/` (any process may), to be committed by the parent.

        `statistics` may be filled while the tables are drawn; it is read after the last of them.
        """
        path = self.new_work_file(name, index)
        made_with, record = settings.as_json(), self._stages.get(name)
        if record is not None and record.settings["fingerprint"] == made_with["fingerprint"]:
            made_with = record.settings_of(index)  # a part from before an append keeps its own
        rows = write_parquet(path, with_metadata(schema, made_with), tables)
        part = Part(rows, path.stat().st_size, sha256_of_file(path), dict(statistics or {}))
        return PendingPart(name, index, path, part)

    def new_work_file(self, name: str, index: int) -> Path:
        """Where a part may be written in `.work/`."""
        folder = self.work / "parts" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{unlike_any(f'{index:05d}')}.parquet"

    def commit(self, pending: PendingPart) -> None:
        """Commit a part: check what a worker wrote, move it to its name, and enter it in the manifest."""
        record = self._stages[pending.stage]
        _check_pending(pending, record.settings_of(pending.index)["fingerprint"])
        with self._commits_alone():
            committed = self._stages.setdefault(pending.stage, record)  # as another process may have it
            if committed.settings != record.settings:
                raise MixError(
                    f"{self.path / record.name}: another process makes it with other settings; "
                    "use the same for all parts, or another --name"
                )
            if not (self.path / "manifest.json").exists():
                self._write_manifest()  # a folder with a part in it must be known as a store
            if not committed.parts:
                self._clear(pending.stage)
            self._give_name(pending)
            committed.parts[pending.index] = pending.part
            if time.monotonic() < self._enter_later_until:
                self._has_to_enter = True
            else:
                self._write_manifest()

    @contextlib.contextmanager
    def commits_together(self) -> Iterator[None]:
        """Within the `with` block, commits that follow each other fast share one writing of the manifest.

        It is written once a second, and at the end of the block, however that is left. A process that is
        killed in between leaves parts without an entry, which are made again.
        """
        self._enters_together = True
        try:
            yield
        finally:
            self._enters_together, self._enter_later_until = False, 0.0
            if self._has_to_enter:
                self._write_manifest()

    def append(
        self, pending: Sequence[PendingPart], settings: Settings, with_corpus: Collection[str]
    ) -> None:
        """Commit further parts of the corpus and its rejects, all with one manifest: all of them or none.

        The stages `with_corpus` have a part for each one of the corpus: they are unfinished from now on.
        """
        for one in pending:
            _check_pending(one, settings.fingerprint)
        note_append(self.work, [(one.stage, one.index) for one in pending])
        for one in pending:
            self._give_name(one)
        for name in ("corpus", "rejects"):
            record = self._stages[name]
            earlier = (*record.earlier, Earlier(record.settings, record.expected_parts))
            added = {one.index: one.part for one in pending if one.stage == name}
            parts, count = record.parts | added, record.expected_parts + len(added)
            self._stages[name] = Stage(settings.as_json(), count, parts, earlier, name)
        before = len(self._row_ranges)
        for index in range(before, self._stages["corpus"].expected_parts):
            self._row_ranges.append((self.rows, self._stages["corpus"].parts[index].rows))
        for name in with_corpus:
            if self._stages[name].expected_parts == before:
                self._stages[name] = replace(self._stages[name], expected_parts=len(self._row_ranges))
        self._write_manifest()
        (self.work / APPEND).unlink(missing_ok=True)

    def _give_name(self, pending: PendingPart) -> None:
        target = self.part_path(pending.stage, pending.index)
        refuse_links(target, self.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        pending.path.replace(target)
        remember_verified(target, pending.part)
        fsync(target.parent)

    def _clear(self, name: str) -> None:
        """Delete what an earlier stage of that name left: a glob over the parts must find no others."""
        folder = self.path / name
        refuse_links(folder, self.path)
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if PART_NAME.fullmatch(path.name):
                refuse_links(path, self.path)
                path.unlink()

    @contextlib.contextmanager
    def _commits_alone(self) -> Iterator[None]:
        """Where several processes write, the manifest of all of them, for one at a time."""
        if not self._is_shared:
            yield
            return
        with hold_lock(self.work / "commit", wait=True):
            self.reload()
            yield

    def set_row_ranges(self, row_ranges: Iterable[tuple[int, int]]) -> None:
        """Fix (first row_id, rows) of each part. Ingest does, before its first commit."""
        self._row_ranges = list(row_ranges)

    def remove(self, *stages: str) -> None:
        """Delete stages: first their manifest entries, then their files.

        A note says which, so that whoever opens the store after a kill deletes the rest. The corpus goes only
        with all stages that were made from it.
        """
        for name in stages:
            self.stage(name)
        names = set(stages)
        if names & {"corpus", "rejects"}:
            names |= {"corpus", "rejects"}
        others = [other for other in self._stages if other not in names]
        if "corpus" in names and others:
            raise UsageError(
                f"{self.path}: every stage is made from the corpus; remove {', '.join(others)} with it, "
                "or use another --store"
            )
        for one in names & self._stages.keys():
            refuse_links(self.path / one, self.path)
        note_removal(self.work, names)
        for one in names & self._stages.keys():
            del self._stages[one]
        if "corpus" in names:
            self._row_ranges = []
        self._write_manifest()
        finish_removal(self.path, self.work, self._stages)

    def discard_if_empty(self, with_folder: bool) -> None:
        """Delete a store in which no part was committed, with its lock; `with_folder`, its folder too."""
        if self._is_shared or (self.path / "manifest.json").exists():
            return
        shutil.rmtree(self.work, ignore_errors=True)
        if with_folder:
            with contextlib.suppress(OSError):  # another program put a file there
                self.path.rmdir()

    def clean_work(self, name: str) -> None:
        """Delete a stage's temporary files, unless other processes are writing theirs beside."""
        if self._is_shared:
            return
        shutil.rmtree(self.work / "parts" / name, ignore_errors=True)
        shutil.rmtree(self.work / name, ignore_errors=True)

    def _write_manifest(self) -> None:
        data = dump_manifest(self._row_ranges, self._stages)
        write_atomically(self.path / "manifest.json", data, self.work / "parts")
        self._has_to_enter = False
        if self._enters_together:
            self._enter_later_until = time.monotonic() + _SECONDS_TOGETHER


def _check_pending(pending: PendingPart, fingerprint: str) -> None:
    """See that a part in `.work/` is what a worker wrote, for this run."""
    rows, schema = describe(pending.path)
    written_by = metadata_of(schema)
    if sha256_of_file(pending.path) != pending.part.sha256 or rows != pending.part.rows:
        raise BadInputError(
            f"{pending.path}: changed between writing and committing; the disk or another program "
            "altered it. Run the same command again"
        )
    if written_by is None or written_by["fingerprint"] != fingerprint:
        raise MixError(f"{pending.path}: was written for another run; run the same command again")


def _readable(folder: Path) -> Path:
    """The folder, unless it is an address, or Arrow could not open a file in it."""
    if is_address(folder):
        raise UsageError(
            f"{shown(folder)}: a live store lies in a folder, as an object store can neither lock it nor let "
            "a file appear as a whole; make it in a folder and copy it with `augment-cli publish "
            f"FOLDER {shown(folder)}`, or fetch one with `augment-cli fetch {shown(folder)} FOLDER`"
        )
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{folder}: this path is not valid UTF-8, and Arrow opens no Parquet file under it; "
            "rename the folder, or use another --store"
        ) from None
    return folder
