"""Sentences that a Python program has in memory (lists, data frames, Arrow tables), as a file to be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.errors.visible import is_unicode
from augment_cli.ingest.checks import check_column
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.readers import check_columns, check_kept, column_in, strings_of
from augment_cli.store.store import Store

FOLDER = "texts"  # in `.work/`
SOURCE = "texts.jsonl"  # what the corpus names as their source
_ROWS_AT_A_TIME = 8_192


def as_arrow(texts: Any, column: str) -> pa.Table:
    """Sentences as an Arrow table; a series or data frame is whatever has Arrow's PyCapsule interface."""
    _refuse_one(texts)
    try:
        if isinstance(texts, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            return pa.table(texts)
        if isinstance(texts, pa.Array | pa.ChunkedArray):
            return pa.table({column: texts})
        if hasattr(texts, "columns"):  # a data frame, of polars, pandas or another library
            return pa.table(texts)
        if not hasattr(texts, "to_numpy"):
            texts = list(texts)
        if isinstance(texts, list) and texts and isinstance(texts[0], Mapping):
            return pa.Table.from_pylist(texts)
        kind = pa.large_string() if isinstance(texts, list) and not texts else None
        return pa.table({column: pa.array(texts, kind)})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _unreadable(texts, error) from error


def _refuse_one(texts: Any) -> None:
    if isinstance(texts, str | bytes | Path | Mapping):
        raise UsageError(
            f"texts is one {type(texts).__name__}; give a list of sentences, a data frame or an Arrow table "
            "(files are named with corpus=)"
        )


def _unreadable(texts: Any, error: object = "") -> UsageError:
    items = enumerate(texts) if isinstance(texts, list) else ()
    why = error
    for place, item in items:
        if not isinstance(item, str | Mapping | None):
            why = f"texts[{place}] is of {type(item).__name__}"
        elif not isinstance(item, str) or is_unicode(item):
            continue
        else:
            why = f"texts[{place}] has half of a surrogate pair"
        break
    return UsageError(
        f"texts cannot be read as sentences ({why}); give a list of strings, a data frame of polars or "
        "pandas, or an Arrow table"
    )


def column_of(texts: Any, column: str) -> pa.Array:
    """Sentences as one array of strings, null where one is missing."""
    table = as_arrow(texts, column)
    if column not in table.column_names:
        raise UsageError(
            f"texts has no column {column!r}; name its sentences with text_column=, one of "
            f"{', '.join(table.column_names)}"
        )
    chunks = [strings_of(chunk)[0] for chunk in table[column].chunks]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def spool(store: Store, texts: Any, options: IngestOptions) -> Path:
    """Write what is to be read of some sentences to a file in the store's `.work/`, as JSON a line."""
    # Like any other input it then has a digest and lines, and is checked line by line.
    further = [*([options.id_column] if options.id_column else []), *options.kept]
    columns = list(dict.fromkeys([options.text_column or "text", *further]))
    rows = _rows_of(texts, columns, options)
    path = store.work / FOLDER / SOURCE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row, default=str) + "\n" for row in rows)
    return path


def _rows_of(texts: Any, columns: Sequence[str], options: IngestOptions) -> Iterable[Mapping[str, Any]]:
    """Rows as JSON has them; what Arrow cannot hold in one column, such as a lone surrogate, as it is."""
    _refuse_one(texts)
    is_arrow = isinstance(
        texts, pa.Table | pa.RecordBatch | pa.RecordBatchReader | pa.Array | pa.ChunkedArray
    )
    if not is_arrow and not hasattr(texts, "columns") and not hasattr(texts, "to_numpy"):
        try:
            return _of_list(list(texts), columns)
        except TypeError as error:
            raise _unreadable(texts, error) from error
    place = Path("texts")
    try:
        table = as_arrow(texts, columns[0])
    except UsageError:
        if not hasattr(texts, "notna"):  # of pandas, where a column may hold anything
            raise
        if not hasattr(texts, "columns"):
            return _of_list(texts.astype(object).where(texts.notna(), None).tolist(), columns)
        for column in columns:
            check_column(place, list(texts.columns), column, "--text-column", "see")
        chosen = texts[list(columns)].astype(object)
        return _of_list(chosen.where(chosen.notna(), None).to_dict("records"), columns)
    check_columns(place, table.schema, columns[0], options.id_column)
    check_kept(place, table.schema, options.kept)
    return _of_table(table, columns)


def _of_list(items: list[Any], columns: Sequence[str]) -> list[Mapping[str, Any]]:
    if items and all(isinstance(item, Mapping) for item in items):
        names = list(dict.fromkeys(str(name) for item in items for name in item))
        if "." not in columns[0]:
            check_column("texts", names, columns[0], "--text-column")
        tops = {column.split(".")[0] for column in columns} | set(columns)
        return [{key: value for key, value in item.items() if key in tops} for item in items]
    if not all(isinstance(item, str | None) for item in items):
        raise _unreadable(items)
    return [{columns[0]: item} for item in items]


def _of_table(table: pa.Table, columns: Sequence[str]) -> Iterator[dict[str, str | None]]:
    for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME):
        strings = [strings_of(column_in(batch, column))[0].to_pylist() for column in columns]
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*strings, strict=True))
