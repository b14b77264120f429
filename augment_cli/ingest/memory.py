"""Sentences that a Python program has in memory (lists, data frames, Arrow tables), as a file to be read."""

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
_PLACE = Path("texts")  # what messages call them


def column_of(texts: Any, column: str) -> pa.Array:
    """Sentences as one array of strings, null where one is missing."""
    if (items := _as_list(texts)) is not None:
        try:
            return pa.array([row.get(column) for row in _of_list(items, [column])], pa.string())
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise _unreadable(items, error) from error
    table = _table_of(texts, column)
    check_columns(_PLACE, table.schema, column, None)
    chunks = [strings_of(column_in(batch, column))[0] for batch in table.to_batches()]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def spool(store: Store, texts: Any, options: IngestOptions) -> Path:
    """Write what is to be read of some sentences to a file in the store's `.work/`, as JSON a line."""
    # Like any other input it then has a digest and lines, and is checked line by line.
    further = [*([options.id_column] if options.id_column else []), *options.kept]
    rows = _rows_of(texts, list(dict.fromkeys([options.text_column or "text", *further])), options)
    path = store.work / FOLDER / SOURCE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row, default=str) + "\n" for row in rows)
    return path


def _as_list(texts: Any) -> list[Any] | None:
    """What Python holds itself, as a list; None of what Arrow reads: series, data frames, its own tables."""
    if isinstance(texts, str | bytes | Path | Mapping):
        raise UsageError(
            f"texts is one {type(texts).__name__}; give a list of sentences, a data frame or an Arrow table "
            "(files are named with corpus=)"
        )
    if hasattr(texts, "columns") or hasattr(texts, "to_numpy") or isinstance(texts, pa.RecordBatchReader):
        return None
    try:
        return list(texts)
    except TypeError as error:
        raise _unreadable([], error) from error


def _table_of(texts: Any, column: str) -> pa.Table:
    """A series or data frame is whatever has Arrow's PyCapsule interface."""
    try:
        is_table = isinstance(texts, pa.RecordBatchReader) or hasattr(texts, "columns")
        return pa.table(texts if is_table else {column: texts})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _unreadable([], error) from error


def _unreadable(items: list[Any], error: object = "") -> UsageError:
    for place, item in enumerate(items):
        if not isinstance(item, str | Mapping | None):
            error = f"texts[{place}] is of {type(item).__name__}"
        elif isinstance(item, str) and not is_unicode(item):
            error = f"texts[{place}] has half of a surrogate pair"
        else:
            continue
        break
    return UsageError(
        f"texts cannot be read as sentences ({error}); give a list of strings, a data frame of polars or "
        "pandas, or an Arrow table"
    )


def _rows_of(texts: Any, columns: Sequence[str], options: IngestOptions) -> Iterable[Mapping[str, Any]]:
    """Rows as JSON has them; what Arrow cannot hold in one column, such as a lone surrogate, as it is."""
    if (items := _as_list(texts)) is not None:
        return _of_list(items, columns)
    try:
        table = _table_of(texts, columns[0])
    except UsageError:
        if not hasattr(texts, "notna"):  # of pandas, where a column may hold anything
            raise
        frame = texts if hasattr(texts, "columns") else texts.to_frame(columns[0])
        for column in columns:
            check_column(_PLACE, list(frame.columns), column, "--text-column", "see")
        frame = frame[list(columns)].astype(object)
        return _of_list(frame.where(frame.notna(), None).to_dict("records"), columns)
    check_columns(_PLACE, table.schema, columns[0], options.id_column)
    check_kept(_PLACE, table.schema, options.kept)
    return _of_table(table, columns)


def _of_list(items: list[Any], columns: Sequence[str]) -> list[Mapping[str, Any]]:
    if items and all(isinstance(item, Mapping) for item in items):
        names = list(dict.fromkeys(str(name) for item in items for name in item))
        if "." not in columns[0]:
            check_column(_PLACE, names, columns[0], "--text-column")
        tops = {column.split(".")[0] for column in columns} | set(columns)
        return [{key: value for key, value in item.items() if key in tops} for item in items]
    if not all(isinstance(item, str | None) for item in items):
        raise _unreadable(items)
    return [{columns[0]: item} for item in items]


def _of_table(table: pa.Table, columns: Sequence[str]) -> Iterator[dict[str, str | None]]:
    for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME):
        strings = [strings_of(column_in(batch, column))[0].to_pylist() for column in columns]
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*strings, strict=True))
