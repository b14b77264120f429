"""How a file is written: encoding, line ends, separator; whether its JSON has one object a line.

It is told from the beginning, where options do not say it. A file that can be read as its ending says is
read so.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass

from augment_cli.errors import UsageError
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.streams import CorpusFile, read_head

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
_SEPARATORS = {"csv": ",", "tsv": "\t"}
_OTHERS = ";\t,|"
_MARKS = {  # the longer ones first, as UTF-32 begins as UTF-16 does
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_SAYS_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n?')  # the first line of what Excel is to read
_ARRAY = re.compile(r'\s*\[\s*[{"]')


@dataclass(frozen=True)
class Dialect:
    """How to read a file; what is unusual has words for people."""

    kind: str  # text, jsonl, json (one document), csv (of any separator) or parquet
    encoding: str = "utf-8"
    separator: str = ","
    ends_in_return: bool = False  # lines end in a carriage return alone
    names_separator: bool = False  # the first line is no header, but says `sep=;`
    words: str = ""


def kind_of(path: CorpusFile) -> str | None:
    """A format from a file's ending (before .gz or .zst), or None where it says nothing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def is_json(path: CorpusFile) -> bool:
    """Whether a file is called .json, which may be lines or one document."""
    return ".json" in [suffix.lower() for suffix in path.suffixes[-2:]]


def is_plain_text(path: CorpusFile, options: IngestOptions) -> bool:
    """Whether a file is read as lines of text, without fields."""
    return (options.format or kind_of(path) or ("jsonl" if is_json(path) else "text")) == "text"


def dialect_of(path: CorpusFile, options: IngestOptions) -> Dialect:
    """The dialect of a file, for the columns that are asked of it."""
    kind = "text" if is_plain_text(path, options) else options.format or kind_of(path) or "jsonl"
    if kind == "parquet":
        return Dialect(kind)
    text, encoding = text_of_head(read_head(path), options)
    words = [] if encoding == options.encoding else [f"the encoding is {encoding}"]
    ends_in_return = _ends_in_return(text, kind in _SEPARATORS and options.quoting)
    if ends_in_return:
        words.append("lines end in a carriage return")
        text = text.replace("\r", "\n")
    separator, named = _SEPARATORS.get(kind, ","), None
    has_columns = options.text_column or options.id_column or options.kept or options.separator
    if kind in _SEPARATORS or (kind == "text" and options.format is None and has_columns):
        named = _SAYS_SEPARATOR.match(text)
        if kind == "text" and not named and _columns_by(text, options) is None:
            _refuse_columns(path)
        usual, kind = _SEPARATORS.get(kind, ""), "csv"
        text = text[named.end() if named else 0 :]
        separator = options.separator or (named and named[1]) or _columns_by(text, options, usual) or usual
        if separator != usual:
            words.append(f"fields are separated by {'a tab' if separator == chr(9) else repr(separator)}")
    elif has_columns and kind == "text":
        _refuse_columns(path)
    elif kind == "text" and options.format is None and (names := table_in(text)):
        words.append(f"it may be a table ({', '.join(names)}); name one of these with --text-column")
    elif kind == "jsonl" and _is_document(text):
        kind = "json"
        words.append("it is one JSON array" if _ARRAY.match(text) else "its JSON is not an object a line")
    return Dialect(kind, encoding, separator, ends_in_return, named is not None, "; ".join(words))


def text_of_head(head: bytes, options: IngestOptions) -> tuple[str, str]:
    """The beginning of a file as text, and its encoding: what a byte order mark says, unless one is named."""
    encoding = options.encoding
    if encoding == "utf-8":
        encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), encoding)
    return head.decode(encoding, "replace").removeprefix("\ufeff"), encoding


def _refuse_columns(path: CorpusFile) -> None:
    raise UsageError(
        f"{path}: --text-column, --id-column, --keep-column and --separator are for jsonl, csv, tsv and "
        "parquet; plain text has one sentence a line"
    )


def _ends_in_return(text: str, quoting: bool) -> bool:
    """Whether the first line end is a carriage return alone; of lines of text, that no line feed comes."""
    if "\r" not in text or (not quoting and "\n" in text):
        return False
    bare = re.sub(r'"[^"]*("|\Z)', "", text) if quoting else text  # line breaks within quotes are no ends
    first = re.search(r"\r\n|\r|\n", bare)
    return first is not None and first[0] == "\r"


def header_of(text: str, separator: str, quoting: bool = True) -> list[str]:
    """The fields of a table's first row; none where it cannot be read."""
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE)
    try:
        return next(rows, [])
    except csv.Error:
        return []


def _columns_by(text: str, options: IngestOptions, usual: str = "") -> str | None:
    """The separator by which the header has the columns that are asked for; the usual one if it can be."""
    wanted = {options.text_column or "text", *options.kept} | ({options.id_column} - {None})
    headers = {one: header_of(text, one, options.quoting) for one in dict.fromkeys(usual + _OTHERS)}
    if found := [one for one, names in headers.items() if wanted <= set(names)]:
        return found[0]
    # None has them: what cuts the header is what a message is to name columns by.
    most = max(headers, key=lambda one: len(headers[one]))
    return most if usual and len(headers[usual]) < 2 and len(headers[most]) > 1 else None


def table_in(text: str) -> list[str]:
    """The header of what is called plain text and may be a table; else nothing."""
    for separator in "\t;":
        rows = [header_of(line, separator) for line in text.splitlines()[:20] if line]
        if (
            len(rows) > 2
            and len(rows[0]) > 1
            and {len(row) for row in rows} == {len(rows[0])}
            and all(rows[0])
        ):
            return rows[0]
    return []


def _is_document(text: str) -> bool:
    """Whether JSON is an array of objects or texts, or its objects are no lines."""
    lines = [line for line in text.split("\n", 50)[:50] if line.strip()]
    if not lines or _is_whole(lines[0]):
        return False if len(lines) != 1 else bool(_ARRAY.match(text))
    if _ARRAY.match(text):
        return True
    try:
        _, end = json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))
    except (ValueError, RecursionError):
        return False
    goes_on = "\n" in text[:end].strip() or text[end:].lstrip().startswith(",")
    return text.lstrip().startswith("{") and goes_on


def _is_whole(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
