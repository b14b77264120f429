"""What a store holds: its stages, where their parts lie, and the rows in them, verified as they are read."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from augment_cli.errors import BadInputError, MixError, UsageError, UserError, did_you_mean
from augment_cli.store.files import refuse_links, sha256_of_file
from augment_cli.store.journal import noted_parts, noted_removals
from augment_cli.store.manifest import (
    MOST_CHARACTERS,
    Part,
    RowRanges,
    Stage,
    is_stage_name,
    part_name,
    read_manifest,
)
from augment_cli.store.parquet import describe, iterate_row_groups, read_parquet, row_group_sizes

if TYPE_CHECKING:
    import polars


# Parts whose digest this process has compared, by path, size, time and inode: each is hashed once.
_VERIFIED: set[tuple[object, ...]] = set()


def verify_part(path: Path, part: Part) -> None:
    """See that a file has the size and SHA-256 that the manifest has of it."""
    again = "run the command that made the stage again to make it anew"
    try:
        status = path.stat()
        key = _key(path, status, part)
        if key in _VERIFIED:
            return
        is_the_part = status.st_size == part.bytes and path.is_file() and sha256_of_file(path) == part.sha256
    except (FileNotFoundError, NotADirectoryError):
        raise BadInputError(f"{path}: the file is missing; {again}") from None
    if not is_the_part:
        raise BadInputError(
            f"{path}: its bytes differ from what was committed (size or sha256), so it is damaged, "
            f"or from another run; delete it and {again}"
        )
    _VERIFIED.add(key)


def remember_verified(path: Path, part: Part) -> None:
    """Note that a file has been compared already, by the commit that has just given it its name."""
    _VERIFIED.add(_key(path, path.stat(), part))


def _key(path: Path, status: os.stat_result, part: Part) -> tuple[object, ...]:
    return (path, status.st_ino, status.st_size, status.st_mtime_ns, part.sha256)


def parts_before(
    stages: Mapping[str, Stage], inputs: Mapping[str, str], now: Mapping[str, str] | None = None
) -> int | None:
    """How many parts the corpus had when a stage was made, where files were appended to it since."""
    if "corpus" not in stages or (now is not None and now.keys() != inputs.keys()):
        return None
    for earlier in stages["corpus"].earlier:
        first = {(stage.digest, stage.digest_of_first(earlier.parts)) for stage in stages.values()}
        if now is None:
            are_first = set(inputs.values()) <= {digest for _, digest in first}
        else:
            are_first = all((now[key], digest) in first for key, digest in inputs.items())
        if are_first:
            return earlier.parts
    return None


class StoreContents:
    """The part of a `Store` that only reads."""

    def __init__(self, path: Path, row_ranges: RowRanges, stages: dict[str, Stage]) -> None:
        self.path = path
        self._row_ranges, self._stages = row_ranges, stages

    def __repr__(self) -> str:
        stages = [name if self.has(name) else f"{name} (unfinished)" for name in self._stages]
        return f"Store({str(self.path)!r}: {self.rows:,} rows; {', '.join(stages) or 'no stages'})"

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Row ranges of the parts, the same in all row-wise stages: (first row_id, number of rows)."""
        return list(self._row_ranges)

    @property
    def rows(self) -> int:
        """Number of rows of the corpus."""
        return sum(rows for _, rows in self._row_ranges)

    def stages(self) -> list[str]:
        """Names of the stages begun or finished, in the order in which they were begun."""
        return list(self._stages)

    def has(self, stage: str) -> bool:
        """Whether a stage is complete, and all its files are there in their size."""
        return stage in self._stages and not self._missing(self._stages[stage])

    def _missing(self, stage: Stage) -> list[int]:
        def is_there(index: int) -> bool:
            path, part = self.part_path(stage.name, index), stage.parts.get(index)
            return part is not None and path.is_file() and path.stat().st_size == part.bytes

        return [index for index in range(stage.expected_parts) if not is_there(index)]

    def stage(self, name: str) -> Stage:
        """The manifest's record of a stage."""
        if name not in self._stages:
            known = ", ".join(self._stages) or "none"
            raise UsageError(
                f"{self.path}: has no stage {name!r}; it has {known}.{did_you_mean(name, self._stages)}"
            )
        return self._stages[name]

    def made_before(self, name: str) -> int | None:
        """How many parts the corpus had when a stage was made, where files were appended to it since."""
        # None for a stage that was made from all of the corpus, or from something else. What was made
        # from nothing but a stage that is behind is behind with it.
        seen, waiting = {name}, [name]
        while waiting:
            inputs = self.stage(waiting.pop()).settings["inputs"]
            if not all(self.has_digest(*item) for item in inputs.items()):
                if (parts := parts_before(self._stages, inputs)) is not None:
                    return parts
                continue
            made_from = [other for other in self.stages() if self.stage(other).digest in inputs.values()]
            waiting += [other for other in made_from if other not in seen]
            seen.update(made_from)
        return None

    def has_digest(self, name: str, digest: str) -> bool:
        """Whether a stage has this digest; most often it is the one of that name."""
        is_named = name in self._stages and self._stages[name].digest == digest
        return is_named or any(stage.digest == digest for stage in self._stages.values())

    def half_appended(self) -> list[Path]:
        """Files that an append left which was killed just before it ended; the next writer deletes them."""
        return [self.part_path(name, index) for name, index in noted_parts(self.work, self._stages)]

    def half_removed(self) -> list[Path]:
        """Folders of stages that a killed removal left; the next writer deletes them."""
        folders = (self.path / name for name in noted_removals(self.work, self._stages))
        return [folder for folder in folders if folder.exists()]

    def part_path(self, stage: str, index: int) -> Path:
        """Where a part lies, or will lie."""
        if not is_stage_name(stage):
            raise UsageError(
                f"{stage[:MOST_CHARACTERS]!r} is not a valid stage name; use at most {MOST_CHARACTERS} "
                "lower-case letters, digits, '.', '_' and '-'"
            )
        return self.path / stage / part_name(index)

    def verified_path(self, stage: str, index: int) -> Path:
        """Where a part lies, after its size and SHA-256 were found to be those in the manifest."""
        part = self.stage(stage).parts.get(index)
        if part is None:
            raise BadInputError(
                f"{self.path}: part {index} of stage {stage!r} is not finished; run the stage again to resume"
            )
        path = self.part_path(stage, index)
        refuse_links(path, self.path)
        try:
            verify_part(path, part)
        except BadInputError:
            if not self._names_still(stage, index, part):
                raise MixError(
                    f"{self.path}: another run has made {stage!r} anew since it was read first; run the same "
                    "command again"
                ) from None
            raise
        return path

    def _names_still(self, stage: str, index: int, part: Part) -> bool:
        """Whether the manifest has a part as it had it when the store was opened."""
        place = self.path / "manifest.json"
        try:
            stages = read_manifest(place.read_bytes(), str(place), "").stages
        except (OSError, UserError):
            return True
        return stage in stages and stages[stage].parts.get(index) == part

    @property
    def work(self) -> Path:
        """Folder for temporary files, on the store's own file system."""
        return self.path / ".work"

    def made_from(self, *names: str) -> list[str]:
        """Stages that were made from some others, directly or by way of further ones, in their order."""
        chosen = set(names)
        if chosen & {"corpus", "rejects"}:
            return [other for other in self._stages if other not in chosen | {"corpus", "rejects"}]
        inputs = {name: {*stage.settings["inputs"].values()} for name, stage in self._stages.items()}
        before = set[str]()
        while chosen != before:
            before = set(chosen)
            digests = set().union(*(self._stages[name].digests for name in chosen & self._stages.keys()))
            chosen.update(name for name, made_from in inputs.items() if digests & made_from)
        return [other for other in self._stages if other in chosen - set(names)]

    # --- rows

    def read_part(
        self,
        stage: str,
        index: int,
        columns: Sequence[str] | None = None,
        row_groups: Sequence[int] | None = None,
    ) -> pa.Table:
        """Read a part, or some of its columns and row groups of 8,192 rows, digest and pages verified."""
        path = self.verified_path(stage, index)
        table = read_parquet(path, columns, row_groups)
        if "row_id" in table.column_names:
            self._check_row_ids(stage, index, path, table, row_groups)
        return table

    def _check_row_ids(
        self, stage: str, index: int, path: Path, table: pa.Table, row_groups: Sequence[int] | None
    ) -> None:
        """Refuse rows that are not those of the corpus's part, whatever the digest of their file says."""
        if describe(path)[1].names[0] != "row_id" or index >= len(self._row_ranges):  # a column among others
            return
        first, rows = self._row_ranges[index]
        sizes = [table.num_rows] if row_groups is None else row_group_sizes(path)
        groups = range(len(sizes)) if row_groups is None else row_groups
        bounds = np.cumsum([first, *sizes])
        # What the manifest says is compared and never made: it may be any number.
        expected = [bounds[:0], *(np.arange(bounds[group], bounds[group + 1]) for group in groups)]
        is_right = bounds[-1] == first + rows
        if not is_right or not np.array_equal(table["row_id"].to_numpy(), np.concatenate(expected)):
            raise BadInputError(
                f"{path}: its rows are not those of the corpus, though its digest fits, so it is damaged or "
                f"foreign; `augment-cli remove {stage}`, and make it anew"
            )

    def read_rows(
        self, stage: str, index: int, positions: Sequence[int], columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read some rows of a part, and no more row groups than they lie in."""
        path = self.verified_path(stage, index)
        tables, first = [read_parquet(path, columns, [])], 0
        for group, size in enumerate(row_group_sizes(path)):
            inside = [position - first for position in positions if first <= position < first + size]
            first += size
            if inside:
                tables.append(read_parquet(path, columns, [group]).take(pa.array(inside)))
        return pa.concat_tables(tables)

    def iterate_part(
        self, stage: str, index: int, columns: Sequence[str], coded: Collection[str] = ()
    ) -> Iterator[pa.Table]:
        """The row groups of a part one after the other, digest and pages verified."""
        # Lists of strings named in `coded` come dictionary-encoded, which is twice as fast to read.
        return iterate_row_groups(self.verified_path(stage, index), columns, coded)

    def read(self, stage: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a whole stage as an Arrow table, rows in corpus order, page checksums verified."""
        record = self.stage(stage)
        if not record.is_complete:
            raise BadInputError(
                f"{self.path}: stage {stage!r} has {len(record.parts)} of {record.expected_parts} parts; "
                "run it again to finish it"
            )
        return pa.concat_tables(self.read_part(stage, index, columns) for index in sorted(record.parts))

    def frame(self, stage: str, columns: Sequence[str] | None = None) -> "polars.DataFrame":
        """Read a whole stage as a polars data frame, page checksums verified."""
        import polars

        frame = polars.from_arrow(self.read(stage, columns))
        assert isinstance(frame, polars.DataFrame)
        return frame
