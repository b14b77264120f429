"""The one place that writes and reads Parquet: columns, settings, page checksums, damage named as damage."""

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from augment_cli.errors import BadInputError
from augment_cli.store.files import naming, refuse_special, unlike_any

SCHEMA_VERSION = 1
APPENDED_SCHEMA_VERSION = 2  # of a manifest whose corpus grew: versions that don't know of it say so
ROW_GROUP_ROWS = 8_192
METADATA_KEY = b"augment_cli"


def _required(**columns: pa.DataType) -> pa.Schema:
    """Columns without nulls."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


CORPUS = _required(row_id=pa.int64(), text=pa.string(), source=pa.string(), line=pa.int64())
CORPUS_WITH_ID = CORPUS.append(pa.field("id", pa.string()))

REJECTS = _required(source=pa.string(), line=pa.int64(), reason=pa.string(), raw=pa.binary())
# Where near-duplicates are left out: the row_id of the sentence that a line repeats.
REJECTS_WITH_REPEATED = REJECTS.append(pa.field("repeats", pa.int64()))

TERMS = _required(term=pa.string(), document_frequency=pa.int64(), idf=pa.float64(), max_score=pa.float64())
# One row a term, in the order of `TERMS`: how it is written in sentences (`augment_cli/tfidf/term_table.py`).
FORMS = _required(case=pa.int8()).append(pa.field("mixed", pa.string()))

TFIDF = _required(
    row_id=pa.int64(),
    term_ids=pa.list_(pa.int32()),
    starts=pa.list_(pa.int32()),
    ends=pa.list_(pa.int32()),
    weights=pa.list_(pa.float64()),
)
# Tokens of a parse, one list entry a token; `heads` are positions in the row, a root is its own head.
PARSES = _required(
    row_id=pa.int64(),
    starts=pa.list_(pa.int32()),
    ends=pa.list_(pa.int32()),
    whitespace=pa.list_(pa.bool_()),
    **dict.fromkeys(("lemmas", "pos", "tags", "morphs", "deps"), pa.list_(pa.string())),
    heads=pa.list_(pa.int32()),
    sentence_starts=pa.list_(pa.bool_()),
)

EDIT = pa.struct(list(_required(start=pa.int32(), end=pa.int32(), replacement=pa.string())))
TEXT_OR_REASON = _required(row_id=pa.int64()).append(pa.field("text", pa.string()))
TEXT_OR_REASON = TEXT_OR_REASON.append(pa.field("reason", pa.string()))
AUGMENTATION = TEXT_OR_REASON.append(pa.field("edits", pa.list_(EDIT), nullable=False))


def with_metadata(schema: pa.Schema, settings: dict[str, Any]) -> pa.Schema:
    """The schema with our one metadata key: the stage's settings as JSON. No time, host or path."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return schema.with_metadata({METADATA_KEY: text.encode()})


def metadata_of(schema: pa.Schema) -> dict[str, Any] | None:
    """The settings a part was made with, or None where it was not written by this package."""
    value = (schema.metadata or {}).get(METADATA_KEY)
    return None if value is None else json.loads(value)


# Columns of high entropy: a dictionary only costs time there; split bytes compress better.
_NO_DICTIONARY = {"row_id", "line", "text", "raw", "term", "id"}
_NO_DICTIONARY |= {"edits.list.element.replacement", "vector.list.element"}
_BYTE_STREAM_SPLIT = {"weights.list.element", "idf", "max_score"}


def leaf_paths(schema: pa.Schema) -> list[str]:
    """The Parquet names of a schema's leaf columns, such as `edits.list.element.start`."""

    def walk(prefix: str, kind: pa.DataType) -> Iterator[str]:
        if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
            yield from walk(f"{prefix}.list.element", kind.value_type)
        elif pa.types.is_struct(kind):
            for field in kind:
                yield from walk(f"{prefix}.{field.name}", field.type)
        else:
            yield prefix

    return [path for field in schema for path in walk(field.name, field.type)]


def write_parquet(
    path: Path,
    schema: pa.Schema,
    tables: Iterable[pa.Table | pa.RecordBatch],
    compression: Literal["zstd", "none"] = "zstd",
) -> int:
    """Write a part: zstd, page checksums, row groups of `ROW_GROUP_ROWS`, then fsync."""
    # Each table becomes one row group (or several, if it is longer), so the caller decides how much is in
    # memory at a time. One of more than a GiB becomes several, which are read as one. A file that is soon
    # read and deleted needs neither compression nor statistics.
    leaves = leaf_paths(schema)
    dictionary = [leaf for leaf in leaves if leaf not in _NO_DICTIONARY | _BYTE_STREAM_SPLIT]
    split: dict[str, str] = {leaf: "BYTE_STREAM_SPLIT" for leaf in leaves if leaf in _BYTE_STREAM_SPLIT}
    rows = 0
    # Python's file, not Arrow's: the error of a full disk keeps its number, and fsync its descriptor.
    with naming(path), path.open("wb") as file:
        with pq.ParquetWriter(
            file,
            schema,
            compression=compression,
            compression_level=1 if compression == "zstd" else None,
            write_page_checksum=True,
            write_statistics=compression == "zstd",
            use_dictionary=dictionary or False,
            column_encoding=split or None,
            store_schema=True,
        ) as writer:
            for given in tables:
                table = pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else given
                for rows_together in _small_enough(table.cast(schema)):
                    writer.write_table(rows_together, row_group_size=ROW_GROUP_ROWS)
                rows += table.num_rows
        file.flush()
        os.fsync(file.fileno())
    return rows


def _small_enough(table: pa.Table) -> Iterator[pa.Table]:
    """The table, in as many pieces as it takes for no row group to be as large as the reader refuses."""
    if table.nbytes <= _MAX_ROW_GROUP_BYTES // 2 or table.num_rows < 2:
        yield table
        return
    step = ROW_GROUP_ROWS if table.num_rows > ROW_GROUP_ROWS else -(-table.num_rows // 2)
    for first in range(0, table.num_rows, step):
        yield from _small_enough(table.slice(first, step))


# Our own parts come nowhere near these; a file that claims more is an attempt to exhaust memory.
_MAX_ROW_GROUP_BYTES = 2 << 30
_LIMITS = {"thrift_string_size_limit": 64 << 20, "thrift_container_size_limit": 1_000_000}


@contextlib.contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise BadInputError(f"{path}: the file is missing; run the stage again to make it anew") from None
    except PermissionError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if "Failed to launch worker thread" in reason:  # Arrow's, under a limit on memory: no damage
            raise MemoryError(f"{path}: {reason}") from error
        raise BadInputError(
            f"{path}: cannot be read as a Parquet part, it is damaged or foreign ({reason}); "
            "delete the file and run the same command again to make it anew"
        ) from error


@contextlib.contextmanager
def open_parquet(
    path: Path | BinaryIO, coded: Collection[str] = (), is_ours: bool = True
) -> Iterator[pq.ParquetFile]:
    """A Parquet file for reading, page checksums verified, sizes that no file of ours has refused."""
    # List columns named in `coded` keep their strings as codes into a dictionary, as they lie in the file.
    if isinstance(path, Path):
        refuse_special(path)
    leaves = [f"{name}.list.element" for name in coded]
    with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=leaves, **_LIMITS) as file:
        for group in range(file.num_row_groups if is_ours else 0):
            size = file.metadata.row_group(group).total_byte_size
            if size > _MAX_ROW_GROUP_BYTES:
                raise ValueError(f"row group {group} claims {size:,} bytes")
        yield file


def rows_in_memory(file: pq.ParquetFile) -> int:
    """How many rows of a file to read at a time, so that they are no more than a row group of ours."""
    rows = ROW_GROUP_ROWS
    for group in (file.metadata.row_group(number) for number in range(file.num_row_groups)):
        of_each = group.total_byte_size // max(group.num_rows, 1)
        rows = min(rows, _MAX_ROW_GROUP_BYTES // max(of_each, 1))
    return max(rows, 1)


def _groups(file: pq.ParquetFile) -> list[list[int]]:
    """The file's row groups, those together that `_small_enough` wrote apart."""
    together: dict[int, list[int]] = {}
    first = 0
    for group in range(file.num_row_groups):
        together.setdefault(first // ROW_GROUP_ROWS, []).append(group)
        first += file.metadata.row_group(group).num_rows
    return list(together.values())


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None
) -> pa.Table:
    """Read a part, or some of its columns and row groups, with page checksums verified."""
    with _naming_damage(path), open_parquet(path) as file:
        names = list(columns) if columns is not None else None
        if names is not None and (unknown := set(names) - set(file.schema_arrow.names)):
            raise BadInputError(f"{path}: has no column {sorted(unknown)}; it has {file.schema_arrow.names}")
        if row_groups is None:
            return file.read(columns=names, use_threads=False)
        groups = _groups(file)
        chosen = [one for group in row_groups for one in groups[group]]
        return file.read_row_groups(chosen, columns=names, use_threads=False)


def iterate_row_groups(path: Path, columns: Sequence[str], coded: Collection[str] = ()) -> Iterator[pa.Table]:
    """The row groups of a part one after the other, page checksums verified; `coded` as in `open_parquet`."""
    with _naming_damage(path), open_parquet(path, coded) as file:
        for groups in _groups(file):
            yield file.read_row_groups(groups, columns=list(columns), use_threads=False)


def row_group_sizes(path: Path) -> list[int]:
    """Number of rows of each row group, from the footer."""
    with _naming_damage(path), open_parquet(path) as file:
        return [sum(file.metadata.row_group(one).num_rows for one in groups) for groups in _groups(file)]


def describe(path: Path) -> tuple[int, pa.Schema]:
    """Number of rows and Arrow schema (with our metadata) from a part's footer."""
    with _naming_damage(path), open_parquet(path) as file:
        return file.metadata.num_rows, file.schema_arrow


# --- temporary tables, in .work/


def write_ipc(path: Path, table: pa.Table) -> None:
    """Write a temporary table as an Arrow file, which is there whole or not at all."""
    temporary = path.with_name(unlike_any(path.name))
    with naming(temporary), temporary.open("wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    temporary.replace(path)


def write_array(path: Path, array: np.ndarray) -> None:
    """Write a temporary array as .npy; the error of a full disk is one of the operating system's."""
    with naming(path), path.open("wb") as file:
        # To what it takes for a file NumPy writes past Python, and a full disk has no number.
        np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)


def read_ipc(path: Path) -> pa.Table:
    """A table that `write_ipc` wrote, memory-mapped: it is paged in as it is used, and never all at once."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()
