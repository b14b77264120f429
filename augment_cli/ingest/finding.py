"""Which files a corpus is read from, under which names, and how each of them is written.

How is told from the beginning, where options do not say it. A file that can be read as its ending says is
read so.
"""

import csv
import errno
import glob
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augment_cli.errors import BadInputError, UsageError
from augment_cli.errors.visible import is_address, shown
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.streams import CorpusFile, LocalFile, read_head
from augment_cli.remote.files import RemoteFile, find_files_at

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


def kind_of(path: CorpusFile | Path) -> str | None:
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
    if kind in _SEPARATORS or (kind == "text" and has_columns):
        named = _SAYS_SEPARATOR.match(text)
        if kind == "text" and (options.format or not (named or _columns_by(text, options))):
            raise UsageError(
                f"{path}: --text-column, --id-column, --keep-column and --separator are for jsonl, csv, tsv "
                "and parquet; plain text has one sentence a line"
            )
        usual, kind = _SEPARATORS.get(kind, ""), "csv"
        text = text[named.end() if named else 0 :]
        separator = options.separator or (named and named[1]) or _columns_by(text, options, usual) or usual
        if separator != usual:
            words.append(f"fields are separated by {'a tab' if separator == chr(9) else repr(separator)}")
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
        fields = {len(row) for row in rows}
        if len(rows) > 2 and len(fields) == 1 and min(fields) > 1 and all(rows[0]):
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


STDIN = "-"
_NO_FILE = "no .txt, .jsonl, .csv, .tsv, .parquet (.gz, .zst) file in it"


def entries_of(corpus: str | Path | Sequence[str | Path] | None) -> list[str | Path] | None:
    """What a caller from Python names as the corpus, as a list; None stays None."""
    if corpus is None:
        return None
    entries = [corpus] if isinstance(corpus, str | Path) else corpus
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, str | Path) for entry in entries):
        raise UsageError(
            f"corpus is of {type(corpus).__name__}, and names files; what is in memory is given as texts=…"
        )
    for entry in entries:
        try:
            find_files([] if entry == STDIN or is_address(entry) else [entry])
        except (BadInputError, OSError, ValueError) as error:
            if " " not in str(entry).strip():
                raise
            raise UsageError(
                f"{str(entry)[:80]}: no such file; corpus names files, sentences themselves are given as "
                "texts=[…]"
            ) from error
    return list(entries)


def find_files(
    corpus: Sequence[str | Path], left_out: list[str] | None = None
) -> list[tuple[CorpusFile, str]]:
    """The files meant by paths, folders and globs, with the names under which they are stored."""
    # An address (`s3://…`) means a file, a folder or a glob as a path does. Folders are searched for the
    # known endings, at any depth, in sorted order. A file that is found twice, by another path or through a
    # link, is read once; what is left out is added to `left_out`. Stored names are relative to what all
    # files have in common, so that they don't depend on where a corpus lies; remote files that come with
    # others have their whole address, without its secrets.
    if not corpus:
        return []
    files: list[Path] = []
    remote: list[RemoteFile] = []
    for entry in corpus:
        if is_address(entry):
            known = {_identity(file) for file in remote}
            remote += [file for file in _remote_files(str(entry)) if _identity(file) not in known]
        else:
            files += _local_files(entry)
    return [*_named(_each_once(files, left_out)), *_named_remote(remote, bool(files))]


def _each_once(files: Sequence[Path], left_out: list[str] | None) -> list[Path]:
    """The files without those that are another one of them, by device and inode."""
    found: dict[tuple[int, int], Path] = {}
    for file in files:
        state = file.stat()
        first = found.setdefault((state.st_dev, state.st_ino), file)
        if first is not file and left_out is not None and str(first) != str(file):
            left_out.append(f"{file} is {first}")
    return list(found.values())


def _local_files(entry: str | Path) -> list[Path]:
    if not str(entry):
        raise BadInputError("an empty name: --corpus takes files, folders and globs")
    path = Path(entry).expanduser()
    if path.is_dir():
        matches = sorted(
            child
            for child in path.rglob("*")
            if child.is_file() and kind_of(child) and not child.name.startswith(".")
        )
        if not matches:
            raise BadInputError(f"{path}: {_NO_FILE}")
    elif path.exists():
        matches = [path]
    else:
        found = (Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
        matches = sorted(match for match in found if not _goes_round(match))
        if not matches:
            raise BadInputError(f"{path}: no such file; name a file, a folder or a glob")
    if broken := [match for match in matches if match.is_symlink() and not match.exists()]:
        raise BadInputError(f"{broken[0]}: is a link that leads to no file; mend or remove it")
    if special := [match for match in matches if match.exists() and not (match.is_file() or match.is_dir())]:
        raise BadInputError(
            f"{special[0]}: is a pipe, a socket or a device, and a corpus is read twice, for its digest and "
            "for its lines; name a file, or pipe it in with `--corpus -`"
        )
    return matches


def _goes_round(path: Path) -> bool:
    """Whether a path passes a link to a parent so often that the system gives up."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _remote_files(entry: str) -> list[RemoteFile]:
    matches, is_folder = find_files_at(entry)
    if not matches:
        raise BadInputError(f"{shown(entry)}: no such bucket, folder, file or match; correct the address")
    if is_folder:
        matches = [file for file in matches if kind_of(file) and not file.name.startswith(".")]
        if not matches:
            raise BadInputError(f"{shown(entry)}: {_NO_FILE}")
    return matches


def _identity(file: RemoteFile) -> tuple[str, ...]:
    """What makes two files one: equal names may lie on two servers, which user and query name."""
    return str(file), file.place.address.user, file.place.address.query


def _named(files: Sequence[Path]) -> list[tuple[CorpusFile, str]]:
    if not files:
        return []
    parent = Path(os.path.commonpath([file.resolve().parent for file in files]))
    names = (file.resolve().relative_to(parent).as_posix() for file in files)
    # Bytes in a name that are not UTF-8 become the replacement character.
    as_text = (name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in names)
    return list(zip(map(LocalFile, files), as_text, strict=True))


def _named_remote(files: Sequence[RemoteFile], among_others: bool) -> list[tuple[CorpusFile, str]]:
    if not files:
        return []
    folders = [str(file).split("/")[:-1] for file in files]
    if among_others or len({tuple(folder[:3]) for folder in folders}) > 1:  # scheme and bucket
        return [(file, str(file)) for file in files]
    shortest = min(map(len, folders))
    common = next((at for at in range(shortest) if len({folder[at] for folder in folders}) > 1), shortest)
    return [(file, "/".join(str(file).split("/")[common:])) for file in files]
