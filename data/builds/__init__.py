"""What made the shipped models and tables, a folder each; here what they share: reading, tables, licence."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LICENSE = Path(__file__).parent / "CC-BY-SA-4.0.txt"


def sentences(paths: Iterable[Path]) -> Iterator[str]:
    """Every line of gzipped files, in order."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            yield from (line.rstrip("\n") for line in lines)


def write(path: Path, columns: dict[str, pa.Array], **options: Any) -> None:
    """A table as small as Parquet makes it, the same bytes each time."""
    table = pa.table(columns)
    small = {"compression": "zstd", "compression_level": 22, "write_statistics": False}
    pq.write_table(table, path, write_page_checksum=True, **small, **options)
    print(f"{path.name}: {len(table):,} rows, {path.stat().st_size:,} bytes")


def columns(rows: Iterable[tuple[Any, ...]], **types: pa.DataType) -> dict[str, pa.Array]:
    """Rows as columns of these names and types."""
    found = zip(types.items(), zip(*rows, strict=True), strict=True)
    return {name: pa.array(values, kind) for (name, kind), values in found}


def size_of(folder: Path, limit: int) -> str:
    """How large a folder is, in words; ends the build where it is larger than a limit in bytes."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > limit:
        raise SystemExit(f"{folder} has {size:,} bytes, more than {limit:,}")
    return f"{size:,} bytes in {folder}"
