"""Readers: from a file of any accepted kind to raw lines, some thousands at a time, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.ingest import checks
from augment_cli.ingest.checks import RawLines
from augment_cli.ingest.streams import read_blocks, split_lines
from augment_cli.ingest.tables import read_table
from augment_cli.store.parquet import open_parquet

FORMATS = ("text", "jsonl", "csv", "tsv", "parquet")
_ENDINGS = {
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
_COMPRESSED = {".gz", ".zst"}
_PARQUET_ROWS = 8_192


@dataclass(frozen=True)
class Layout:
    """How a file is to be read.

    Parameters
    ----------
    text, id : str, optional
        Fields of a structured file that hold the text and, if wanted, the user's own id.
    format : str, optional
        One of `FORMATS`, whatever the file's ending.
    quoting : bool
        Whether csv and tsv quote fields with `"`; otherwise it is a character like any other.
    """

    text: str | None = None
    id: str | None = None
    format: str | None = None
    quoting: bool = True


def kind_of(path: Path) -> str | None:
    """One of `FORMATS` from a file's ending (before .gz or .zst), or None where it says nothing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def read_file(path: Path, source: str, layout: Layout) -> Iterator[RawLines]:
    """Read one file; the ending decides how, an unknown one is read as plain text.

    Damage in the middle of a file ends it with one rejected line that names the damage.
    """
    kind = layout.format or kind_of(path) or "text"
    if kind == "parquet":
        yield from _read_parquet(path, source, layout)
    elif kind in ("csv", "tsv"):
        separator = "," if kind == "csv" else "\t"
        yield from read_table(path, source, layout.text, layout.id, separator, layout.quoting)
    elif kind == "jsonl":
        for raw_lines in _read_lines(path, source):
            yield _parse_json_lines(raw_lines, layout)
    elif layout.text or layout.id:
        raise UsageError(
            f"{path}: --text-column and --id-column are for jsonl, csv, tsv and parquet; "
            "plain text has one sentence a line"
        )
    else:
        yield from _read_lines(path, source)


def _read_lines(path: Path, source: str) -> Iterator[RawLines]:
    first_line = 1
    for block in read_blocks(path):
        raw = split_lines(block.data)
        lines = np.arange(first_line, first_line + len(raw))
        first_line += len(raw)
        reasons = [(0, checks.TOO_LONG)] if block.is_first_too_long else []
        if block.damage:
            reasons.append((len(raw) - 1, block.damage))
        yield RawLines(source, lines, raw, raw, None, reasons)


def _parse_json_lines(raw_lines: RawLines, layout: Layout) -> RawLines:
    name = layout.text or "text"
    texts: list[bytes] = []
    ids: list[str | None] = []
    reasons: list[tuple[int, str]] = []
    for position, line in enumerate(raw_lines.raw.to_pylist()):
        text, identity, reason = _json_text(line, name, layout.id)
        texts.append(b"" if text is None else text.encode("utf-8", "surrogatepass"))
        ids.append(identity)
        if reason:
            reasons.append((position, reason))
    id_column = pa.array(ids, pa.string()) if layout.id else None
    # What the stream said of a line (too long, damaged) counts for more than what its bytes say.
    column = pa.array(texts, pa.large_binary())
    return RawLines(
        raw_lines.source, raw_lines.lines, column, raw_lines.raw, id_column, reasons + raw_lines.reasons
    )


def _json_text(line: bytes, name: str, id_name: str | None) -> tuple[str | None, str | None, str | None]:
    """(text, id, reason): one of text and reason is None."""
    if not line.strip():
        return None, None, checks.EMPTY
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError:
        return None, None, checks.NOT_UTF8
    except (ValueError, RecursionError):
        return None, None, checks.BROKEN_JSON
    if not isinstance(record, dict):
        return None, None, checks.WRONG_TYPE
    if name not in record:
        return None, None, checks.NO_TEXT_FIELD
    if not isinstance(record[name], str):
        return None, None, checks.WRONG_TYPE
    if id_name is None:
        return record[name], None, None
    identity = record.get(id_name)
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        return None, None, checks.WRONG_TYPE
    text_id = str(identity)
    try:
        text_id.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, written as an escape
        return None, None, checks.NOT_UTF8
    return record[name], text_id, None


def _read_parquet(path: Path, source: str, layout: Layout) -> Iterator[RawLines]:
    name = layout.text or "text"
    first_row = 1
    try:
        with open_parquet(path) as file:
            _check_columns(path, file.schema_arrow, name, layout.id)
            columns = list(dict.fromkeys([name] if layout.id is None else [name, layout.id]))
            for record_batch in file.iter_batches(
                batch_size=_PARQUET_ROWS, columns=columns, use_threads=False
            ):
                texts = record_batch.column(record_batch.schema.get_field_index(name))
                if pa.types.is_dictionary(texts.type):
                    texts = texts.dictionary_decode()
                missing = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
                reasons = [(int(row), checks.WRONG_TYPE) for row in missing]
                raw = texts.cast(pa.large_binary()).fill_null(b"")
                ids = None
                if layout.id is not None:
                    ids, bad = _ids_of(record_batch.column(record_batch.schema.get_field_index(layout.id)))
                    reasons += bad
                lines = np.arange(first_row, first_row + len(raw))
                first_row += len(raw)
                yield RawLines(source, lines, raw, raw, ids, reasons)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        broken = pa.array([b""], pa.large_binary())
        ids = pa.array([None], pa.string()) if layout.id else None
        yield RawLines(source, np.array([first_row]), broken, broken, ids, [(0, checks.DAMAGED_FILE)])


def _ids_of(column: pa.Array) -> tuple[pa.StringArray, list[tuple[int, str]]]:
    """The ids as strings, and the rows whose id is missing or not text."""
    ids: list[str | None] = []
    reasons = []
    values = column.cast(pa.binary()).to_pylist() if _is_text(column.type) else column.to_pylist()
    for row, value in enumerate(values):
        try:
            ids.append(value.decode() if isinstance(value, bytes) else str(value))
        except UnicodeDecodeError:
            ids.append(None)
            reasons.append((row, checks.NOT_UTF8))
        if value is None:
            reasons.append((row, checks.WRONG_TYPE))
    return pa.array(ids, pa.string()), reasons


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def _check_columns(path: Path, schema: pa.Schema, text: str, identity: str | None) -> None:
    for name, option in ((text, "--text-column"), (identity, "--id-column")):
        if name is not None and name not in schema.names:
            raise UsageError(f"{path}: has no column {name!r}, it has {schema.names}; name one with {option}")
        if name is not None and (count := schema.names.count(name)) > 1:
            raise UsageError(
                f"{path}: has {count} columns {name!r}, and which is meant cannot be known; "
                f"rename them, or name another with {option}"
            )
    if not _is_text(kind := schema.field(text).type):
        raise UsageError(f"{path}: column {text!r} is {kind}, not text; name another with --text-column")
    if identity is None:
        return
    if not (_is_text(kind := schema.field(identity).type) or pa.types.is_integer(kind)):
        raise UsageError(f"{path}: column {identity!r} is {kind}, neither text nor whole numbers")
