"""Fetch the public originals, convert them to the layout of the data folder, check them."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import os
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from augment_cli.errors import BadInputError, IncompleteError, MissingError, UsageError
from data.fetch.readers import READERS, Row, decode, one_line
from eval.tasks.registry import Task, load_registry
from eval.tasks.table import read_table

SOURCES = Path(__file__).with_name("sources.toml")
HOST = "https://raw.githubusercontent.com"
LIMIT = 64 * 2**20  # the largest original has 6 MB; more than this is something else
TIMEOUT = 60.0
ATTEMPTS = 4
RECORD = "fetched.json"


@dataclass(frozen=True)
class Part:
    """Files that are read together."""

    values: dict[str, str]  # columns that all their rows share, such as the split
    files: tuple[str, ...]  # where the originals are, as owner/name/commit/path


@dataclass(frozen=True)
class Source:
    """Where a file of the data folder comes from."""

    target: str  # its path under the data folder
    reader: str  # A name of `data.fetch.readers.READERS`
    parts: tuple[Part, ...]  # what it is put together from, in order


def load_sources(path: Path = SOURCES) -> dict[str, Source]:
    """Read the list of sources."""
    sources = {}
    for target, entry in tomllib.loads(path.read_text("utf-8")).items():
        parts = tuple(Part(part["values"], tuple(part["files"])) for part in entry["parts"])
        for part in parts:
            for file in part.files:
                commit = file.split("/")[2]
                if len(commit) != 40 or set(commit) - set("0123456789abcdef"):
                    raise BadInputError(
                        f"{path}: {file} is not pinned by a commit; write owner/name/commit/path"
                    )
        sources[target] = Source(target, entry["reader"], parts)
    return sources


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
