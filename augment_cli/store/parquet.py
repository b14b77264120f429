"""The one place that writes and reads Parquet: settings, page checksums, damage named as damage."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from augment_cli.errors import BadInputError
from augment_cli.store.files import naming, refuse_special
from augment_cli.store.schema import ROW_GROUP_ROWS

# Columns of high entropy: a dictionary only costs time there; split bytes compress better.
_NO_DICTIONARY = {
    "row_id",
    "line",
    "text",
    "raw",
    "term",
    "id",
    "edits.list.element.replacement",
    "vector.list.element",
}
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
    """Write a part: zstd, page checksums, row groups of `ROW_GROUP_ROWS`, then fsync.

    Each table becomes one row group (or several, if it is longer), so the caller decides how much
    is in memory at a time. A file that is soon read and deleted
    needs neither compression nor statistics.

    Returns
    -------
    int
        The number of rows written.
    """
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
                writer.write_table(table.cast(schema), row_group_size=ROW_GROUP_ROWS)
                rows += table.num_rows
        file.flush()
        os.fsync(file.fileno())
    return rows


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
        raise BadInputError(
            f"{path}: cannot be read as a Parquet part, it is damaged or foreign ({reason}); "
            "delete the file and run the same command again to make it anew"
        ) from error


@contextlib.contextmanager
def open_parquet(path: Path | BinaryIO, coded: Collection[str] = ()) -> Iterator[pq.ParquetFile]:
    """A Parquet file for reading, page checksums verified, sizes that no honest file has refused.

    List columns named in `coded` keep their strings as codes into a dictionary, as they lie in the file.
    """
    if isinstance(path, Path):
        refuse_special(path)
    leaves = [f"{name}.list.element" for name in coded]
    with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=leaves, **_LIMITS) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).total_byte_size
            if size > _MAX_ROW_GROUP_BYTES:
                raise ValueError(f"row group {group} claims {size:,} bytes")
        yield file


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None
) -> pa.Table:
    """Read a part, or some of its columns and row groups, with page checksums verified.

    Raises
    ------
    BadInputError
        If the file is missing, damaged or not a Parquet file; the message names it.
    """
    with _naming_damage(path), open_parquet(path) as file:
        names = list(columns) if columns is not None else None
        if names is not None and (unknown := set(names) - set(file.schema_arrow.names)):
            raise BadInputError(f"{path}: has no column {sorted(unknown)}; it has {file.schema_arrow.names}")
        if row_groups is None:
            return file.read(columns=names, use_threads=False)
        return file.read_row_groups(list(row_groups), columns=names, use_threads=False)


def iterate_row_groups(path: Path, columns: Sequence[str], coded: Collection[str] = ()) -> Iterator[pa.Table]:
    """The row groups of a part one after the other, page checksums verified; `coded` as in `open_parquet`."""
    with _naming_damage(path), open_parquet(path, coded) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=list(columns), use_threads=False)


def row_group_sizes(path: Path) -> list[int]:
    """Number of rows of each row group, from the footer."""
    with _naming_damage(path), open_parquet(path) as file:
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def describe(path: Path) -> tuple[int, pa.Schema]:
    """Number of rows and Arrow schema (with our metadata) from a part's footer."""
    with _naming_damage(path), open_parquet(path) as file:
        return file.metadata.num_rows, file.schema_arrow


# --- temporary tables, in .work/


def write_ipc(path: Path, table: pa.Table) -> None:
    """Write a temporary table as an Arrow file, which is there whole or not at all."""
    temporary = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    with naming(temporary), temporary.open("wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    temporary.replace(path)


def read_ipc(path: Path) -> pa.Table:
    """A table that `write_ipc` wrote, memory-mapped: it is paged in as it is used, and never all at once."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()
