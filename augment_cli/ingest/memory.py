"""Sentences that a Python program has in memory (lists, data frames, Arrow tables), as a file to be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.readers import check_columns, check_kept, strings_of
from augment_cli.store.store import Store

FOLDER = "texts"  # in `.work/`
SOURCE = "texts.jsonl"  # what the corpus names as their source
_ROWS_AT_A_TIME = 8_192


def as_arrow(texts: Any, column: str) -> pa.Table:
    """Sentences as an Arrow table; a series or data frame is whatever has Arrow's PyCapsule interface."""
    if isinstance(texts, str | bytes | Path | Mapping):
        raise UsageError(
            f"texts is one {type(texts).__name__}; give a list of sentences, a data frame or an Arrow table "
            "(files are named with corpus=)"
        )
    try:
        if isinstance(texts, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            return pa.table(texts)
        if isinstance(texts, pa.Array | pa.ChunkedArray):
            return pa.table({column: texts})
        if hasattr(texts, "columns"):  # a data frame, of polars, pandas or another library
            return pa.table(texts)
        if not hasattr(texts, "to_numpy") and not isinstance(texts, list):
            texts = list(texts)
        if isinstance(texts, list) and texts and isinstance(texts[0], Mapping):
            return pa.Table.from_pylist(texts)
        kind = pa.large_string() if isinstance(texts, list) and not texts else None
        return pa.table({column: pa.array(texts, kind)})
    except (pa.ArrowException, TypeError, ValueError) as error:
        items = enumerate(texts) if isinstance(texts, list) else ()
        odd = next(
            ((place, item) for place, item in items if not isinstance(item, str | Mapping | None)), None
        )
        why = error if odd is None else f"texts[{odd[0]}] is of {type(odd[1]).__name__}"
        raise UsageError(
            f"texts cannot be read as sentences ({why}); give a list of strings, a data frame of polars or "
            "pandas, or an Arrow table"
        ) from error


def column_of(texts: Any, column: str) -> pa.Array:
    """Sentences as one array of strings, null where one is missing."""
    table = as_arrow(texts, column)
    if column not in table.column_names:
        raise UsageError(
            f"texts has no column {column!r}; name its sentences with text_column=, one of "
            f"{', '.join(table.column_names)}"
        )
    strings = strings_of(table[column])[0]
    return strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings


def spool(store: Store, texts: Any, options: IngestOptions) -> Path:
    """Write what is to be read of some sentences to a file in the store's `.work/`, as JSON a line."""
    # Like any other input it then has a digest and lines, and is checked line by line.
    name = options.text_column or "text"
    table = as_arrow(texts, name)
    place = Path("texts")
    check_columns(place, table.schema, name, options.id_column)
    further = [*options.keep_columns, *options.positive_columns, *options.negative_columns]
    check_kept(place, table.schema, further)
    columns = list(
        dict.fromkeys([name, *([options.id_column] if options.id_column else []), *options.keep_columns])
    )
    path = store.work / FOLDER / SOURCE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        for batch in table.select(columns).to_batches(max_chunksize=_ROWS_AT_A_TIME):
            strings = [strings_of(column)[0].to_pylist() for column in batch.columns]
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*strings, strict=True))
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return path
