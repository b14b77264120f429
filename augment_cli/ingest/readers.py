"""Readers: from a file of any accepted kind to raw lines, some thousands at a time, in bounded memory."""

import contextlib
import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest import checks, records
from augment_cli.ingest.checks import RawLines, Reasons
from augment_cli.ingest.finding import Dialect, dialect_of, is_json, kind_of
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.streams import CorpusFile, LocalFile, read_blocks, split_lines
from augment_cli.store.parquet import open_parquet, rows_in_memory

NO_VALUE = object()  # what a field has that is not there


def read_file(
    path: CorpusFile,
    source: str,
    options: IngestOptions,
    say: Callable[[str, str], object] = lambda source, words: None,
) -> Iterator[RawLines]:
    """Read one file; the ending decides how, an unknown one is read as plain text. Says what is unusual."""
    # Damage in the middle of a file ends it with one rejected line that names the damage.
    if options.format is None and kind_of(path) in (None, "text"):
        refuse_documents(path)
    dialect = dialect_of(path, options)
    if dialect.words:
        say(source, dialect.words)
    if dialect.kind == "parquet":
        return _read_parquet(path, source, options)
    if dialect.kind == "csv":
        return records.read_table(path, source, dialect, options)
    lines = _lines_or_objects(path, source, dialect)
    if dialect.kind == "text":
        return lines
    return (_parse_json_lines(raw_lines, options, dialect.kind == "json") for raw_lines in lines)


# First bytes of what people have their text in and what is not text, and what to do about it.
_DOCUMENTS = {
    b"\xfd7zXZ\x00": "is compressed with xz: unpack it with `xz -d` (.gz and .zst are read as they are)",
    b"BZh": "is compressed with bzip2: unpack it with `bunzip2` (.gz and .zst are read as they are)",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive: unpack it",
    b"Rar!\x1a": "is a RAR archive: unpack it",
    b"PK\x03\x04": "is a zip archive, such as .docx or .xlsx: save it as plain text or csv, or unpack it",
    b"%PDF-": "is a PDF: save its text as .txt, one sentence a line",
    b"{\\rtf": "is an RTF document: save it as plain text",
    b"\xd0\xcf\x11\xe0": "is an Office document: save it as plain text or csv",
    b"PAR1": "is a Parquet file: name it .parquet, or give --format parquet",
    b"SQLite format 3": "is an SQLite database: export the column of texts as csv",
    b"<!DOCTYPE": "is a web page: save its text as .txt, one sentence a line",
    b"<html": "is a web page: save its text as .txt, one sentence a line",
}
_TAR, _TAR_AT = b"ustar", 257
_JSON_ARRAY = re.compile(rb'\s*\[\s*[{"\[]')


def refuse_documents(path: CorpusFile) -> None:
    """See that a file that would be read as lines of text is not something else altogether."""
    block = next(read_blocks(path), None)
    head = b"" if block is None or block.damage else block.data[:4096]
    documents = [what for magic, what in _DOCUMENTS.items() if head.startswith(magic)]
    if head.startswith(_TAR, _TAR_AT):
        documents.append("is a tar archive: unpack it, and name the files in it")
    if documents:
        raise BadInputError(f"{path}: {documents[0]} (--format text reads its lines as they are)")
    if _JSON_ARRAY.match(head) and not is_json(path) and not _parses_as_lines(head):
        raise BadInputError(
            f"{path}: is a JSON array; read its objects with --format jsonl (--format text reads its lines "
            "as they are)"
        )


def _parses_as_lines(head: bytes) -> bool:
    """Whether a bracket at the very beginning is only a sentence's: further lines begin otherwise."""
    lines = [line.strip() for line in head.splitlines()[:50] if line.strip()]
    odd = sum(line[:1] in b'[]{}"' or line[-1:] in b"[]{}," for line in lines)
    return 2 * odd < len(lines)


def _lines_or_objects(path: CorpusFile, source: str, dialect: Dialect) -> Iterator[RawLines]:
    if dialect.kind == "json":
        yield from records.read_objects(path, source, dialect)
        return
    first_line = 1
    for block in read_blocks(path, dialect.encoding, dialect.ends_in_return):
        raw = split_lines(block.data)
        lines = np.arange(first_line, first_line + len(raw))
        first_line += len(raw)
        reasons: Reasons = [(0, Reason.TOO_LONG)] if block.is_first_too_long else []
        if block.damage:
            reasons.append((len(raw) - 1, block.damage))
        yield RawLines(source, lines, raw, raw, None, reasons)


def _parse_json_lines(raw_lines: RawLines, options: IngestOptions, takes_strings: bool) -> RawLines:
    rows = [_json_row(line, options, takes_strings) for line in raw_lines.raw.to_pylist()]
    reasons = [(position, row) for position, row in enumerate(rows) if isinstance(row, Reason)]
    nothing = ("", None, *[None] * len(options.kept))
    columns = zip(*(nothing if isinstance(row, Reason) else row for row in rows), strict=True)
    texts, ids, *more = (pa.array(values, pa.string()) for values in columns)
    return dataclasses.replace(
        raw_lines,
        texts=texts.cast(pa.large_binary()),
        ids=ids if options.id_column else None,
        # What the stream said of a line (too long, damaged) counts for more than what its bytes say.
        reasons=reasons + raw_lines.reasons,
        more=dict(zip(options.kept, more, strict=True)),
        is_json=True,
    )


def _json_row(line: bytes, options: IngestOptions, takes_strings: bool) -> tuple[str | None, ...] | Reason:
    """The text, the id and the kept fields of a line, or why it is rejected."""
    if not line.strip():
        return Reason.EMPTY
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError:
        return Reason.NOT_UTF8
    except (ValueError, RecursionError):
        return Reason.BROKEN_JSON
    name, id_name = options.text_column or "text", options.id_column
    if isinstance(record, str) and takes_strings:  # of an array of texts
        record = {name: record}
    if not isinstance(record, dict):
        return Reason.WRONG_TYPE
    if (text := field_of(record, name, NO_VALUE)) is NO_VALUE:
        return Reason.NO_TEXT_FIELD
    if text is None:
        return Reason.MISSING
    identity = None if id_name is None else field_of(record, id_name)
    is_id = isinstance(identity, str | int) and not isinstance(identity, bool)
    if not isinstance(text, str) or (id_name is not None and not is_id):
        return Reason.WRONG_TYPE
    identity = str(identity) if id_name is not None else None
    kept = [field_of(record, column) for column in options.kept]
    kept = [
        value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False) for value in kept
    ]
    try:
        "".join([text, identity or "", *filter(None, kept)]).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, written as an escape
        return Reason.NOT_UTF8
    return text, identity, *kept


def field_of(record: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """A field of an object, or one within another: `data.text`, `turns.0.text`."""
    if name in record:
        return record[name]
    value: Any = record
    for key in name.split("."):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and re.fullmatch("[0-9]{1,9}", key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return default
    return value


def fields_of(value: Any, within: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of an object with their values, those within others by the names of `field_of`."""
    if isinstance(value, dict) and value and within.count(".") < 5:
        for key, inner in value.items():
            yield from fields_of(inner, f"{within}.{key}" if within else str(key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from fields_of(value[0], f"{within}.0" if within else "0")
    elif within:
        yield within, value


def read_records(path: CorpusFile, options: IngestOptions) -> Iterator[dict[str, Any]]:
    """All fields of the rows that can be read, those within others by the names of `field_of`."""
    dialect = dialect_of(path, options)
    if dialect.kind == "csv":
        yield from records.read_records(path, dialect, options)
    elif dialect.kind == "parquet":
        with (
            contextlib.suppress(pa.ArrowException, OSError, ValueError),
            _opened(path) as source_file,
            open_parquet(source_file, is_ours=False) as file,
        ):
            for record_batch in file.iter_batches(rows_in_memory(file), use_threads=False):
                yield from (dict(fields_of(row)) for row in record_batch.to_pylist())
    elif dialect.kind != "text":
        for raw_lines in _lines_or_objects(path, "", dialect):
            for line in raw_lines.raw.to_pylist():
                with contextlib.suppress(ValueError, RecursionError):
                    yield dict(fields_of(json.loads(line)))


def _read_parquet(path: CorpusFile, source: str, options: IngestOptions) -> Iterator[RawLines]:
    name, id_name, keep = options.text_column or "text", options.id_column, options.kept
    first_row = 1
    try:
        with _opened(path) as source_file, open_parquet(source_file, is_ours=False) as file:
            check_columns(path, file.schema_arrow, name, id_name)
            check_kept(path, file.schema_arrow, keep)
            columns = list(dict.fromkeys([name, *([id_name] if id_name else []), *keep]))
            for record_batch in file.iter_batches(rows_in_memory(file), columns=columns, use_threads=False):
                texts = column_in(record_batch, name)
                missing = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
                reasons: Reasons = [(int(row), Reason.MISSING) for row in missing]
                raw = texts.cast(pa.large_binary()).fill_null(b"")
                ids, more = None, {}
                if id_name is not None:
                    ids, bad = strings_of(column_in(record_batch, id_name))
                    without = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
                    reasons += [*((int(row), Reason.WRONG_TYPE) for row in without), *bad]
                for column in keep:
                    more[column], bad = strings_of(column_in(record_batch, column))
                    reasons += bad
                lines = np.arange(first_row, first_row + len(raw))
                first_row += len(raw)
                yield RawLines(source, lines, raw, raw, ids, reasons, more)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        broken, nothing = pa.array([b""], pa.large_binary()), pa.array([None], pa.string())
        ids, more = nothing if id_name else None, dict.fromkeys(keep, nothing)
        yield RawLines(source, np.array([first_row]), broken, broken, ids, [(0, Reason.DAMAGED_FILE)], more)


def names_in(schema: pa.Schema) -> list[str]:
    """The columns of a table, and the fields within those that are structures, as `data.text`."""
    inner = _flat(schema.empty_table()).schema.names
    return [*schema.names, *(name for name in inner if name not in schema.names)]


def _flat(table: pa.Table) -> pa.Table:
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def column_in(batch: pa.RecordBatch, name: str) -> pa.Array:
    """A column without a dictionary, or a field within one that is a structure."""
    if name in batch.schema.names:
        return _decoded(batch[name])
    column = _flat(pa.Table.from_batches([batch]))[name]
    return _decoded(column.chunk(0) if column.num_chunks else pa.array([], column.type))


def _type_of(schema: pa.Schema, name: str) -> pa.DataType:
    """The type of a column's values, or of those of a field within one."""
    table = schema.empty_table()
    kind = (table if name in schema.names else _flat(table)).schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _opened(path: CorpusFile) -> contextlib.AbstractContextManager[Path | BinaryIO]:
    """What Arrow is given to read from: a remote file as a stream, of which it asks for what it needs."""
    return contextlib.nullcontext(path.path) if isinstance(path, LocalFile) else path.open()


def strings_of(column: pa.Array) -> tuple[pa.StringArray, Reasons]:
    """A kept column as strings, null where it has none, and the rows whose value cannot be one."""
    strings: list[str | None] = []
    reasons: Reasons = []
    for row, value in enumerate(_values_of(_decoded(column))):
        if value is NO_VALUE:
            strings.append(None)
            reasons.append((row, Reason.WRONG_TYPE))
            continue
        try:
            text = value.decode() if isinstance(value, bytes) else value
        except UnicodeDecodeError:
            text = None
            reasons.append((row, Reason.NOT_UTF8))
        strings.append(None if text is None else str(text))
    return pa.array(strings, pa.string()), reasons


def _decoded(column: pa.Array) -> pa.Array:
    """A column without a dictionary; Arrow takes nothing from one of string views, such as polars has."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(column.indices)


def _values_of(column: pa.Array) -> list[Any]:
    """A column's values: bytes of texts, else what Python has for them, such as no year after 9999."""
    if _is_text(column.type):
        return column.cast(pa.binary()).to_pylist()
    if column.type == pa.time64("ns"):  # Python's time has microseconds
        exact = pa.array(column.to_pylist(), column.type)
        return column.to_pylist() if exact.equals(column) else column.cast(pa.string()).to_pylist()
    try:
        return column.to_pylist()
    except (OverflowError, ValueError, pa.ArrowException):
        return [_value_of(value) for value in column]


def _value_of(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError, pa.ArrowException):
        return NO_VALUE


def check_kept(path: object, schema: pa.Schema, names: Sequence[str]) -> None:
    """See that columns to be kept are there, and can be strings."""
    for name in names:
        checks.check_column(path, names_in(schema), name, "--keep-column", advice="see")
        if not _can_be_kept(kind := _type_of(schema, name)):
            raise UsageError(
                f"{path}: column {name!r} is {kind}; --keep-column keeps text, numbers, dates and times"
            )


def _can_be_kept(kind: pa.DataType) -> bool:
    types = pa.types
    is_other = types.is_duration(kind) or types.is_interval(kind)
    is_number = (types.is_primitive(kind) and not is_other) or types.is_decimal(kind)
    return is_number or _is_text(kind) or types.is_null(kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def check_columns(path: object, schema: pa.Schema, text: str, identity: str | None) -> None:
    """See that the columns of texts and ids are there, once, and of such a type."""
    for name, option in ((text, "--text-column"), (identity, "--id-column")):
        if name is not None:
            checks.check_column(path, names_in(schema), name, option)
    if not _is_text(kind := _type_of(schema, text)):
        raise UsageError(f"{path}: column {text!r} is {kind}, not text; name another with --text-column")
    if identity is None:
        return
    if not (_is_text(kind := _type_of(schema, identity)) or pa.types.is_integer(kind)):
        raise UsageError(f"{path}: column {identity!r} is {kind}, neither text nor whole numbers")
