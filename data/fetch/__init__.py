"""Fetch the public originals, convert them to the layout of the data folder, check them (`make data`)."""

import csv
import gzip
import hashlib
import http.client
import io
import json
import os
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from augment_cli.errors import BadInputError, IncompleteError, MissingError, UsageError
from augment_cli.process.exit_codes import Command
from eval.contract.arguments import call
from eval.tasks import Task, load_registry, read_table

Row = dict[str, str]
Reader = Callable[..., Iterator[Row]]
SOURCES = Path(__file__).with_name("sources.toml")
HOST = "https://raw.githubusercontent.com"
LIMIT = 64 * 2**20  # the largest original has 6 MB; more than this is something else
TIMEOUT = 60.0
ATTEMPTS = 4
RECORD = "fetched.json"


def decode(raw: bytes) -> str:
    """UTF-8 where it is valid (a mark at its start dropped), else Latin-1, which several originals are in."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Lines without their ends; only line feeds end a line, with or without a carriage return."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def one_line(value: str) -> str:
    """A field as the layout wants it: tabs and line breaks replaced by a space, no space at either end."""
    return value.replace("\t", " ").replace("\r", " ").replace("\n", " ").strip()


def _side_by_side(first: str, second: str) -> Iterator[tuple[str, str]]:
    left, right = split_lines(first), split_lines(second)
    if len(left) != len(right):
        raise ValueError(f"{len(left)} lines beside {len(right)}")
    return zip(left, right, strict=True)


def table(
    columns: str, separator: str = "\t", *, header: bool = False, more: bool = False, blanks: bool = False
) -> Reader:
    """A reader of lines with these columns, of which nobody needs `_`; quotes are plain text."""
    # Where `more` columns may follow, they are left out, and so are blank lines where there may be `blanks`.
    names = columns.split()

    def read(text: str) -> Iterator[Row]:
        for line in split_lines(text)[int(header) :]:
            if line.strip() or not blanks:
                fields = line.split(separator)
                row = dict(zip(names, fields[: len(names)] if more else fields, strict=True))
                row.pop("_", None)
                yield row

    return read


def pairs_with_gold(sentences: str, gold: str) -> Iterator[Row]:
    """SemEval STS: two sentences a line (more columns are sources), gold beside; blank means no gold."""
    for line, score in _side_by_side(sentences, gold):
        if score.strip():
            first, second = line.split("\t")[:2]
            yield {"score": score.strip(), "sentence1": first, "sentence2": second}


def quoted_pairs(text: str) -> Iterator[Row]:
    """Quoted CSV without header: two sentences and a score."""
    for first, second, score in csv.reader(io.StringIO(text, newline="")):
        yield {"score": score, "sentence1": first, "sentence2": second}


def lines(text: str) -> Iterator[Row]:
    """One sentence a line, the class given by the file; blank lines dropped."""
    for line in split_lines(text):
        if line.strip():
            yield {"text": line}


def questions(text: str) -> Iterator[Row]:
    """TREC: COARSE:fine question."""
    for line in split_lines(text):
        label, question = line.split(" ", 1)
        coarse, _ = label.split(":", 1)
        yield {"label": coarse, "fine_label": label, "text": question}


def label_then_text(text: str) -> Iterator[Row]:
    """A label, a space, the sentence."""
    for line in split_lines(text):
        label, sentence = line.split(" ", 1)
        yield {"label": label, "text": sentence}


def text_then_label(text: str) -> Iterator[Row]:
    """The sentence, a tab, a label."""
    for line in split_lines(text):
        sentence, label = line.rsplit("\t", 1)
        yield {"label": label.strip(), "text": sentence}


def text_beside_label(text: str, labels: str) -> Iterator[Row]:
    """Sentences in one file, their classes in another, line by line."""
    for sentence, label in _side_by_side(text, labels):
        yield {"label": label.strip(), "text": sentence}


def categories(text: str) -> Iterator[Row]:
    """Quoted CSV with the header text,category."""
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield {"label": row["category"], "text": row["text"]}


def clustered_json(text: str) -> Iterator[Row]:
    """One JSON object a line with `text` and `cluster`."""
    for line in split_lines(text):
        if line.strip():
            entry = json.loads(line)
            yield {"label": str(entry["cluster"]), "text": entry["text"]}


READERS: dict[str, Reader] = {
    reader.__name__: reader
    for reader in (
        pairs_with_gold,
        quoted_pairs,
        lines,
        questions,
        label_then_text,
        text_then_label,
        text_beside_label,
        categories,
        clustered_json,
    )
} | {
    "sts_benchmark": table("genre subtask year _ score sentence1 sentence2", more=True),
    "sick": table("pair_id sentence1 sentence2 score entailment", header=True, more=True),
    "double_bar_pairs": table("id sentence1 sentence2 score", "||", blanks=True),  # CNSD-STS-B
    "paraphrases": table("label id1 id2 sentence1 sentence2", header=True),  # MRPC
    "acceptability": table("source label _ text"),  # CoLA
}


@dataclass(frozen=True)
class Part:
    """Files that are read together."""

    values: dict[str, str]  # columns that all their rows share, such as the split
    files: tuple[str, ...]  # where the originals are, as owner/name/commit/path


@dataclass(frozen=True)
class Source:
    """Where a file of the data folder comes from."""

    target: str  # its path under the data folder
    reader: str  # A name of `data.fetch.READERS`
    parts: tuple[Part, ...]  # what it is put together from, in order


def load_sources(path: Path = SOURCES) -> dict[str, Source]:
    """Read the list of sources."""
    return {
        target: Source(
            target, entry["reader"], tuple(Part(one["values"], tuple(one["files"])) for one in entry["parts"])
        )
        for target, entry in tomllib.loads(path.read_text("utf-8")).items()
    }


def download(url: str, *, attempts: int = ATTEMPTS, wait: float = 1.0) -> bytes:
    """Fetch one file; a broken or refused connection is tried again, waiting longer each time."""
    problem = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(wait * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
                expected = response.headers.get("Content-Length")
                raw = response.read(LIMIT + 1)
            if len(raw) > LIMIT:
                raise MissingError(f"{url} is larger than {LIMIT:,} bytes; it is not the file that was meant")
            if expected is not None and len(raw) != int(expected):
                raise ConnectionError(f"{len(raw)} of {expected} bytes")
            return raw
        except urllib.error.HTTPError as error:
            problem = str(error)
            error.close()
            if error.code not in (408, 429) and error.code < 500:
                break
        except (OSError, http.client.HTTPException) as error:
            problem = str(error)
    raise MissingError(f"{url} could not be fetched ({problem}); check the network and run the command again")


def convert(source: Source, contents: Sequence[Sequence[bytes]], columns: Sequence[str]) -> bytes:
    """The file of the data folder as uncompressed TSV."""
    rows: list[Row] = []
    for part, raws in zip(source.parts, contents, strict=True):
        try:
            read = READERS[source.reader](*(decode(raw) for raw in raws))
            rows.extend({**part.values, **row} for row in read)
        except (ValueError, KeyError) as error:
            raise BadInputError(
                f"{source.target}: {part.files[0]} does not have the form that {source.reader} reads "
                f"({error})"
            ) from error
    body = ["\t".join(columns), *("\t".join(one_line(row[column]) for column in columns) for row in rows)]
    return ("\n".join(body) + "\n").encode()


def fetch(
    data: Path,
    targets: Sequence[str] = (),
    *,
    host: str = HOST,
    force: bool = False,
    sources: Path = SOURCES,
    registry: Path | None = None,
    wait: float = 1.0,
    say: Callable[[str], object] = print,
) -> list[str]:
    """Fetch sets that are not there yet; each file is complete and checked, or not there."""
    known = load_sources(sources)
    tasks = load_registry(registry) if registry else load_registry()
    chosen = [source for source in known.values() if not targets or _named(source.target, targets)]
    unknown = [name for name in targets if not any(_named(target, [name]) for target in known)]
    if unknown:
        raise UsageError(f"unknown set {unknown[0]!r}; sets are {', '.join(known)}")
    written, failed = [], []
    for source in chosen:
        if (data / source.target).exists() and not force:
            say(f"{source.target}: already there")
            continue
        try:
            say(_fetch_one(data, source, tasks, host, wait))
            written.append(source.target)
        except (MissingError, BadInputError) as error:
            say(f"{source.target}: failed: {error}")
            failed.append(source.target)
    if failed:
        raise IncompleteError(
            f"{len(failed)} of {len(chosen)} sets are missing: {', '.join(failed)}; see above"
        )
    return written


def _named(target: str, names: Sequence[str]) -> bool:
    short = target.rsplit("/", 1)[-1].removesuffix(".tsv.gz")
    return target in names or short in names


def _fetch_one(data: Path, source: Source, tasks: dict[str, Task], host: str, wait: float) -> str:
    members = [task for task in tasks.values() if task.file == source.target]
    if not members:
        raise BadInputError(
            f"no task of the registry reads {source.target}; add one to eval/tasks/tasks.toml"
        )
    urls = [[f"{host}/{file}" for file in part.files] for part in source.parts]
    contents = [[download(url, wait=wait) for url in part] for part in urls]
    content = convert(source, contents, members[0].columns)
    raw = gzip.compress(content, mtime=0)
    data.mkdir(parents=True, exist_ok=True)
    checked = True
    with tempfile.TemporaryDirectory(dir=data, prefix=".fetch-") as work:
        temporary = Path(work) / source.target
        temporary.parent.mkdir(parents=True)
        temporary.write_bytes(raw)
        for task in members:  # counts, columns and subsets, before the file gets its name
            checked &= read_table(task, Path(work), any_data=True).checked
        (data / source.target).parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(data / source.target)
    digests = {
        url: hashlib.sha256(file).hexdigest()
        for part, files in zip(urls, contents, strict=True)
        for url, file in zip(part, files, strict=True)
    }
    _record(data, source.target, {"sha256": hashlib.sha256(raw).hexdigest(), "originals": digests})
    rows = content.count(b"\n") - 1
    if checked:
        return f"{source.target}: {rows:,} rows, the content that the registry describes"
    if members[0].sha256:
        return (
            f"{source.target}: {rows:,} rows, counts right, content not the registry's: score with --any-data"
        )
    return f"{source.target}: {rows:,} rows, counts right, no digest known to compare with"


def _record(data: Path, target: str, entry: dict[str, object]) -> None:
    path = data / RECORD
    record = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    record[target] = entry
    temporary = path.with_name(f".{RECORD}.{os.getpid()}")
    temporary.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", "utf-8")
    temporary.replace(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    try:
        call(_fetch, "python -m data.fetch", sys.argv[1:] if arguments is None else arguments)
    except (Exception, KeyboardInterrupt) as error:
        command = Command(interrupted="interrupted; the sets that are written are kept", option="--data")
        if (code := command.exit_code(error)) is None:
            raise
        sys.exit(code)


def _fetch(
    data: Annotated[Path, typer.Option("--data", help="the data folder, made if missing")],
    sets: Annotated[
        list[str] | None,
        typer.Argument(help="such as sts16 or intent/hwu64.tsv.gz", show_default="all that are missing"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="fetch files again that are already there")] = False,
    host: Annotated[str, typer.Option("--host", help="where the files are served")] = HOST,
) -> None:
    """Fetch the public evaluation sets and convert them to the layout of the data folder."""
    written = fetch(data, sets or [], host=host, force=force)
    print(f"{len(written)} sets written to {data}; licences differ, many are for research only")
