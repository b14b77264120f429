"""Readers: from a file of any accepted kind to batches of raw lines, in bounded memory."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from augment_cli.errors import UsageError
from augment_cli.ingest import checks
from augment_cli.ingest.checks import RawBatch

_BLOCK_BYTES = 4 << 20
_PARQUET_ROWS = 8_192
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Columns:
    """Where the text is in a structured file: `text_column` and, if wanted, `id_column`."""

    text: str | None = None
    id: str | None = None


def kind_of(path: Path) -> str | None:
    """`text`, `jsonl` or `parquet` from a file's ending (before .gz), or None where it says nothing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    endings = {".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
    return endings.get(suffixes[-1]) if suffixes else None


def read_file(path: Path, source: str, columns: Columns) -> Iterator[RawBatch]:
    """Read one file; the ending decides how, an unknown one is read as plain text.

    Damage in the middle of a file ends it with one rejected line that names the damage.
    """
    kind = kind_of(path) or "text"
    if kind == "parquet":
        yield from _read_parquet(path, source, columns)
    elif kind == "jsonl":
        for lines, raw, damage in _read_lines(path):
            yield _parse_json_lines(source, lines, raw, damage, columns)
    else:
        if columns.text or columns.id:
            raise UsageError(
                f"{path}: --text-column and --id-column are for jsonl and parquet; "
                "plain text has one sentence a line"
            )
        for lines, raw, damage in _read_lines(path):
            yield RawBatch(source, lines, raw, None, damage)


def _read_lines(path: Path) -> Iterator[tuple[np.ndarray, pa.Array, list[tuple[int, str]]]]:
    """Batches of (line numbers, lines as bytes without their end, damage)."""
    first_line = 1
    with path.open("rb") as plain:
        compressed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        for block, damage in _whole_lines(gzip.GzipFile(fileobj=plain) if compressed else plain):
            raw = _split_lines(block)
            lines = np.arange(first_line, first_line + len(raw))
            first_line += len(raw)
            yield lines, raw, [(len(raw) - 1, damage)] if damage else []


def _whole_lines(file: BinaryIO | gzip.GzipFile) -> Iterator[tuple[bytes, str | None]]:
    """Blocks that end at a line end; where the stream breaks, its unfinished rest with the reason."""
    rest, start = b"", True
    while True:
        try:
            block = file.read(_BLOCK_BYTES)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            yield rest + b"\n", checks.DAMAGED_GZIP
            return
        except OSError:
            yield rest + b"\n", checks.DAMAGED_FILE
            return
        if start:
            block, start = block.removeprefix(_BYTE_ORDER_MARK), False
        if not block:
            if rest:
                yield rest + b"\n", None
            return
        cut = block.rfind(b"\n") + 1
        if cut == 0:
            rest += block
            continue
        yield rest + block[:cut], None
        rest = block[cut:]


def _split_lines(block: bytes) -> pa.LargeBinaryArray:
    """The lines of a block that ends in a line end; a carriage return before it belongs to the end."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == 0x0A)
    starts = np.append(0, ends[:-1] + 1)
    if b"\r\n" in block:
        returns = (ends > starts) & (data[np.maximum(ends - 1, 0)] == 0x0D)
        keep = np.ones(len(data), bool)
        keep[ends] = False
        keep[ends[returns] - 1] = False
        lengths = ends - starts - returns
    else:
        keep = data != 0x0A
        lengths = ends - starts
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data[keep])]
    )


def _parse_json_lines(
    source: str, lines: np.ndarray, raw: pa.Array, damage: list[tuple[int, str]], columns: Columns
) -> RawBatch:
    name = columns.text or "text"
    values: list[bytes] = []
    ids: list[str | None] = []
    reasons: list[tuple[int, str]] = []
    for position, line in enumerate(raw.to_pylist()):
        text, identity, reason = _json_text(line, name, columns.id)
        values.append(line if text is None else text.encode("utf-8", "surrogatepass"))
        ids.append(identity)
        if reason:
            reasons.append((position, reason))
    id_column = pa.array(ids, pa.string()) if columns.id else None
    return RawBatch(source, lines, pa.array(values, pa.large_binary()), id_column, reasons + damage)


def _json_text(line: bytes, name: str, id_name: str | None) -> tuple[str | None, str | None, str | None]:
    """(text, id, reason): one of text and reason is None."""
    if not line.strip():
        return None, None, checks.EMPTY
    try:
        record = json.loads(line)
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


def _read_parquet(path: Path, source: str, columns: Columns) -> Iterator[RawBatch]:
    name = columns.text or "text"
    first_row = 1
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_columns(path, file.schema_arrow, name, columns.id)
            wanted = [name] if columns.id is None else [name, columns.id]
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=wanted, use_threads=False):
                texts = batch.column(batch.schema.get_field_index(name))
                missing = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
                raw = texts.cast(pa.large_binary()).fill_null(b"")
                ids = None
                if columns.id is not None:
                    ids = batch.column(batch.schema.get_field_index(columns.id)).cast(pa.string())
                lines = np.arange(first_row, first_row + len(raw))
                first_row += len(raw)
                yield RawBatch(source, lines, raw, ids, [(int(row), checks.WRONG_TYPE) for row in missing])
    except (pa.ArrowException, OSError):
        broken = pa.array([b""], pa.large_binary())
        ids = pa.array([None], pa.string()) if columns.id else None
        yield RawBatch(source, np.array([first_row]), broken, ids, [(0, checks.DAMAGED_FILE)])


def _check_columns(path: Path, schema: pa.Schema, text: str, identity: str | None) -> None:
    for name, option in ((text, "--text-column"), (identity, "--id-column")):
        if name is not None and name not in schema.names:
            raise UsageError(f"{path}: has no column {name!r}, it has {schema.names}; name one with {option}")
    kind = schema.field(text).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        raise UsageError(f"{path}: column {text!r} is {kind}, not text; name another with --text-column")
