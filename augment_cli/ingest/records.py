"""Records of tables (csv and tsv) and of JSON that is not one object a line, in bounded memory."""

import codecs
import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.errors.visible import is_unicode
from augment_cli.ingest import checks
from augment_cli.ingest.checks import MAX_RAW_BYTES, RawLines, Reasons
from augment_cli.ingest.finding import Dialect
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.streams import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    CorpusFile,
    DamageError,
    read_blocks,
    read_pieces,
)

_BETWEEN = re.compile(r"[\s,]*")
_ENCODING, _ERRORS = "utf-8", "surrogateescape"  # bytes that are not UTF-8 survive, to be named


def read_objects(path: CorpusFile, source: str, dialect: Dialect) -> Iterator[RawLines]:
    """The objects of a document, as if each were a line; its number is that of the line it begins on.

    What cannot be read ends the file with one rejected row, as damage does.
    """
    damage: list[str] = []
    objects = _objects(path, dialect, damage)
    while found := _some_of(objects):
        lines, raw = zip(*found, strict=True)
        data = pa.array(raw, pa.large_binary())
        reasons: Reasons = [(len(raw) - 1, reason) for reason in damage]
        yield RawLines(source, np.array(lines), data, data, None, reasons)


def _some_of(objects: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    found, size = [], 0
    for one in objects:
        found.append(one)
        size += len(one[1])
        if size > BLOCK_BYTES:
            break
    return found


def _objects(path: CorpusFile, dialect: Dialect, damage: list[str]) -> Iterator[tuple[int, bytes]]:
    """Line and bytes of each object; `damage` gets the reason why the last one is the file's rest."""
    decode = json.JSONDecoder().raw_decode
    pieces = read_pieces(path, dialect.encoding, dialect.ends_in_return)
    to_text = codecs.getincrementaldecoder(_ENCODING)(_ERRORS)
    text, line, is_whole, reason = "", 1, False, ""
    is_array: bool | None = None
    while True:
        at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
        if is_array is None and at < len(text):
            is_array = text.startswith("[", at)
            at += is_array
            at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", 0, at)
        text = text[at:]
        start = 0
        try:
            while start < len(text) and not (is_array and text[start] == "]"):
                _, end = decode(text, start)
                if end == len(text) and not is_whole:
                    break
                yield line, text[start:end].encode(_ENCODING, _ERRORS)
                following = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
                line += text.count("\n", start, following)
                start = following
        except (ValueError, RecursionError):
            reason = Reason.DAMAGED_FILE if is_whole or len(text) - start > MAX_LINE_BYTES else ""
        text = text[start:]
        if is_array and text.startswith("]"):
            text, is_array = text[1:], False
            continue
        if reason or is_whole:
            break
        try:
            text += to_text.decode(next(pieces))
        except StopIteration:
            text += to_text.decode(b"", True)
            is_whole = True
        except DamageError as error:
            reason = error.reason
    if text.strip() or is_array or reason:
        damage.append(reason or Reason.DAMAGED_FILE)
        yield line, text[:MAX_RAW_BYTES].encode(_ENCODING, _ERRORS)


_ROWS_AT_A_TIME = 8_192


class _Lines:
    """The file's lines for `csv.reader`, and those it has taken for the row at hand."""

    def __init__(self, path: CorpusFile, dialect: Dialect) -> None:
        self._blocks = read_blocks(path, dialect.encoding, dialect.ends_in_return)
        self._lines: list[bytes] = []
        self._next = 0
        self.taken: list[bytes] = []
        self.number = 0  # of lines taken so far
        self.damage: tuple[bytes, str] | None = None

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        while self._next == len(self._lines):
            block = next(self._blocks)
            self._lines, self._next = block.data[:-1].split(b"\n"), 0
            if block.damage:
                self.damage = self._lines.pop(), block.damage
        line = self._lines[self._next] + b"\n"
        self._next += 1
        self.number += 1
        self.taken.append(line)
        return line.decode(_ENCODING, _ERRORS)


def read_table(path: CorpusFile, source: str, dialect: Dialect, options: IngestOptions) -> Iterator[RawLines]:
    """Read the text (and id) column of a csv or tsv file, and those to keep."""
    # A row whose number of fields is not the header's is rejected: a text with a bare separator in it would
    # otherwise be cut without a word. A quotation mark that is never closed swallows lines, so it counts as
    # damage of the file.
    text_name, id_name, keep = options.text_column or "text", options.id_column, options.kept
    lines = _Lines(path, dialect)
    rows = _rows_of(lines, dialect, options)
    header = _header(path, rows, [text_name, id_name], keep)
    names = [text_name, *([id_name] if id_name else []), *keep]
    places = [header.index(name) for name in names] if header else []
    nothing: list[str | None] = ["", *[None] * (len(names) - 1)]
    read: list[list[Any]] = []
    while True:
        lines.taken.clear()
        line, row, reason = lines.number + 1, list[str](), ""
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            reason = Reason.TOO_LONG if "field limit" in str(error) else Reason.BROKEN_ROW
            reason = Reason.UNCLOSED_QUOTE if len(lines.taken) > 1 else reason
        else:
            if not row or len(row) != len(header):
                reason = Reason.FIELD_COUNT if row else Reason.EMPTY
        values = nothing if reason else [row[at] for at in places]
        if id_name and not (values[1] or "").isprintable():
            reason, values = Reason.WRONG_TYPE, nothing
        elif any("\udc80" <= character <= "\udcff" for value in values[1:] for character in value or ""):
            reason, values = Reason.NOT_UTF8, nothing
        read.append([line, reason, b"".join(lines.taken).rstrip(b"\r\n"), *values])
        if len(read) >= _ROWS_AT_A_TIME:
            yield _raw_lines(source, read, id_name, keep)
            read = []
    if lines.damage:
        read.append([lines.number + 1, lines.damage[1], lines.damage[0].rstrip(b"\r\n"), *nothing])
    if read:
        yield _raw_lines(source, read, id_name, keep)


def _raw_lines(source: str, read: list[list[Any]], id_name: str | None, keep: Sequence[str]) -> RawLines:
    """Of rows with line, reason or nothing, bytes, text, id if there are any, and columns that are kept."""
    lines, reasons, raw, texts, *others = zip(*read, strict=True)
    columns = [pa.array(values, pa.string()) for values in others]
    return RawLines(
        source,
        np.array(lines, np.int64),
        pa.array([text.encode(_ENCODING, _ERRORS) for text in texts], pa.large_binary()),
        pa.array(raw, pa.large_binary()),
        columns.pop(0) if id_name else None,
        [(position, reason) for position, reason in enumerate(reasons) if reason],
        dict(zip(keep, columns, strict=True)),
    )


def _rows_of(lines: _Lines, dialect: Dialect, options: IngestOptions) -> Iterator[list[str]]:
    if dialect.names_separator:
        next(lines)
    return csv.reader(
        lines,
        delimiter=dialect.separator,
        quoting=csv.QUOTE_MINIMAL if options.quoting else csv.QUOTE_NONE,
        strict=True,
    )


def read_records(path: CorpusFile, dialect: Dialect, options: IngestOptions) -> Iterator[dict[str, str]]:
    """All fields of the rows that can be read, by their column."""
    lines = _Lines(path, dialect)
    rows, header = _rows_of(lines, dialect, options), list[str]()
    while True:
        lines.taken.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            continue
        if header and len(row) == len(header):
            yield dict(zip(header, row, strict=True))
        header = header or row


def _header(
    path: CorpusFile, rows: Iterator[list[str]], columns: list[str | None], keep: Sequence[str]
) -> list[str]:
    try:
        header = next(rows, [])
    except csv.Error as error:
        raise UsageError(f"{path}: its first row is not a valid header ({error})") from error
    options = (
        "--text-column",
        "--id-column",
        *["--keep-column, --positive-column or --negative-column"] * len(keep),
    )
    if header and not {*columns, *keep, None} <= {*header, None} and not is_unicode("".join(header)):
        raise UsageError(
            f"{path}: its header is not UTF-8; name its --encoding, which `augment-cli look {path}` guesses"
        )
    for name, option in zip([*columns, *keep], options, strict=True):
        if header and name is not None:
            checks.check_column(path, header, name, option)
    return header
