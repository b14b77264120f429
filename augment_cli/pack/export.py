"""A packed stage as one csv or jsonl file, for those who read no Parquet."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.store.store import Store

ENDINGS = (".csv", ".jsonl")


def export(store: Store, stage: str, path: Path) -> int:
    """Write a packed stage to one csv or jsonl file; complete, or not there.

    Parameters
    ----------
    store : Store
    stage : str
    path : Path
        Its ending decides the format; a file there is replaced. In csv a list is written as JSON.

    Returns
    -------
    int
        Number of rows.
    """
    check_export_path(path)
    temporary = path.with_name(f".{path.name}.writing")
    rows = 0
    with temporary.open("w", encoding="utf-8", newline="") as file:
        write = _csv_rows if path.suffix == ".csv" else _jsonl_rows
        for number, index in enumerate(sorted(store.stage(stage).parts)):
            table = store.read_part(stage, index)
            write(file, table, number == 0)
            rows += table.num_rows
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return rows


def check_export_path(path: Path) -> None:
    """Raise `UsageError` where a file of this name cannot be written."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out {path}: the name must end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")


def _csv_rows(file: TextIO, table: pa.Table, is_first: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if is_first:
        writer.writerow(table.column_names)
    columns = [map(_csv_cell, column.to_pylist()) for column in table.columns]
    writer.writerows(zip(*columns, strict=True))


def _csv_cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def _jsonl_rows(file: TextIO, table: pa.Table, is_first: bool) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
