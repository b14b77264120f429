"""Which files a corpus is read from (paths, folders, globs, addresses), and under which names."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Sequence
from pathlib import Path

from augment_cli.errors import BadInputError, UsageError
from augment_cli.errors.visible import is_address, shown
from augment_cli.ingest.dialects import kind_of
from augment_cli.ingest.streams import CorpusFile, LocalFile
from augment_cli.remote.files import RemoteFile, find_files_at

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
