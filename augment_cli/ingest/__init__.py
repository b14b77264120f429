"""Ingest: text files to the corpus stage, lines that are not sentences to the rejects with their reason."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest.checks import RawLines
from augment_cli.ingest.options import IngestOptions, IngestReport
from augment_cli.ingest.readers import Layout, kind_of, read_file
from augment_cli.ingest.sentences import split_raw_lines
from augment_cli.ingest.writer import CorpusWriter
from augment_cli.store.files import sha256_of_file, sha256_of_json
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store

__all__ = [
    "STDIN",
    "IngestOptions",
    "IngestReport",
    "corpus_settings",
    "entries_of",
    "find_files",
    "ingest",
    "report_of",
]

VERSION = 1
STDIN = "-"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # a Path makes one slash of two


def entries_of(corpus: str | Path | Sequence[str | Path] | None) -> list[str | Path] | None:
    """What a caller from Python names as the corpus, as a list; None stays None.

    Raises
    ------
    UsageError
        If it is, or holds, something else than paths, such as sentences.
    """
    if corpus is None:
        return None
    entries = [corpus] if isinstance(corpus, str | Path) else corpus
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, str | Path) for entry in entries):
        raise UsageError(
            f"corpus is of {type(corpus).__name__}, and names files; what is in memory is given as texts=…"
        )
    for entry in entries:
        try:
            find_files([] if entry == STDIN else [entry])
        except (BadInputError, OSError, ValueError) as error:
            if " " not in str(entry).strip():
                raise
            raise UsageError(
                f"{str(entry)[:80]}: no such file; corpus names files, sentences themselves are given as "
                "texts=[…]"
            ) from error
    return list(entries)


def find_files(corpus: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """The files meant by paths, folders and globs, with the names under which they are stored.

    Folders are searched for the known endings, at any depth, in sorted order. Stored names are
    relative to what all files have in common, so that they don't depend on where a corpus lies.

    Raises
    ------
    BadInputError
        If a path does not exist, or a folder or glob has no file to read.
    """
    if not corpus:
        return []
    files: list[Path] = []
    for entry in corpus:
        if _ADDRESS.match(str(entry)):
            raise BadInputError(
                f"{entry}: addresses are not read, only files; fetch it first, or pipe its text to --corpus -"
            )
        path = Path(entry).expanduser()
        if path.is_dir():
            matches = sorted(
                child
                for child in path.rglob("*")
                if child.is_file() and kind_of(child) and not child.name.startswith(".")
            )
            if not matches:
                raise BadInputError(f"{path}: no .txt, .jsonl, .csv, .tsv, .parquet (.gz, .zst) file in it")
        elif path.exists():
            matches = [path]
        else:
            matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
            if not matches:
                raise BadInputError(f"{path}: no such file; --corpus takes files, folders and globs")
        if broken := [match for match in matches if match.is_symlink() and not match.exists()]:
            raise BadInputError(f"{broken[0]}: is a link that leads to no file; mend or remove it")
        files += [file for file in matches if file not in files]
    parent = Path(os.path.commonpath([file.resolve().parent for file in files]))
    return [(file, _utf8(file.resolve().relative_to(parent).as_posix())) for file in files]


def _utf8(name: str) -> str:
    """A file name as text: bytes in it that are not UTF-8 become the replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def corpus_settings(files: Sequence[tuple[Path, str]], options: IngestOptions) -> Settings:
    """What the corpus stage depends on: the files' names and digests, and how they are read."""
    digest = sha256_of_json([[name, sha256_of_file(path)] for path, name in files])
    return Settings(
        "corpus",
        VERSION,
        parameters={
            "text_column": options.text_column,
            "id_column": options.id_column,
            "limit": options.limit,
            "max_characters": options.max_characters,
            "part_rows": options.part_rows,
            "format": options.format,
            "quoting": options.quoting,
            "split_sentences": options.split_sentences,
            "deduplicate": options.deduplicate,
            **({"near_similarity": options.near_similarity} if options.deduplicate == "near" else {}),
            **({"encoding": options.encoding} if options.encoding != "utf-8" else {}),
            **({"keep_columns": list(options.kept)} if options.kept else {}),
        },
        inputs={"files": digest},
        libraries=library_versions(["nltk"] if options.split_sentences else []),
    )


def ingest(
    store: Store,
    corpus: Sequence[str | Path],
    options: IngestOptions | None = None,
    *,
    strict: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> IngestReport:
    """Read a corpus into the store's `corpus` and `rejects` stages.

    Parameters
    ----------
    store : Store
        New, or holding the same corpus (then nothing is read again).
    corpus : sequence of str or Path
        Files, folders, globs; `-` is standard input.
    options : IngestOptions
        How to read them.
    strict : bool
        Stop at the first line that would be rejected.
    progress : callable
        Called with the number of sentences kept since the last call.

    Raises
    ------
    BadInputError
        If nothing can be read, or with `strict` at the first bad line.
    MixError
        If the store holds another corpus.
    """
    options = options or IngestOptions()
    files = find_files([entry for entry in corpus if entry != STDIN])
    if STDIN in corpus:
        files.append((_spool(store), "stdin"))
    settings = corpus_settings(files, options)
    missing = [store.begin(stage, settings) for stage in ("corpus", "rejects") if stage in store.stages()]
    if missing == [[], []]:
        store.clean_work("stdin")
        return report_of(store)

    with CorpusWriter(store, settings, options) as writer:
        for raw_lines in _ahead(_read_pieces(files, options)):
            before = writer.kept
            writer.add(raw_lines, strict)
            progress(writer.kept - before)
            if writer.is_full:
                break
        if writer.kept == 0:
            raise BadInputError(
                f"{', '.join(str(path) for path, _ in files[:3])}: no sentence could be read "
                f"({_in_words(writer.reasons)}){IngestReport(0, dict(writer.reasons)).remedy}"
            )
        writer.commit()
    store.clean_work("stdin")
    return report_of(store)


def _in_words(reasons: Counter[str]) -> str:
    counts = [f"{count:,} lines {reason}" for reason, count in sorted(reasons.items())]
    return ", ".join(counts) or "the input is empty"


def _read_pieces(files: Sequence[tuple[Path, str]], options: IngestOptions) -> Iterator[RawLines]:
    layout = Layout(
        options.text_column,
        options.id_column,
        options.format,
        options.quoting,
        options.kept,
        options.encoding,
    )
    for path, source in files:
        for raw_lines in read_file(path, source, layout):
            yield split_raw_lines(raw_lines) if options.split_sentences else raw_lines


def _ahead(pieces: Iterator[RawLines]) -> Iterator[RawLines]:
    """The same pieces, each read in a thread while the one before it is checked and written."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, pieces, None)
        while (raw_lines := following.result()) is not None:
            following = thread.submit(next, pieces, None)
            yield raw_lines


def _spool(store: Store) -> Path:
    """Standard input in a file, so that it can be read twice: for its digest, and for its lines."""
    path = store.work / "stdin" / "stdin"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def report_of(store: Store) -> IngestReport:
    """Counts of the store's corpus, from the manifest."""
    reasons: Counter[str] = Counter()
    for part in store.stage("rejects").parts.values():
        reasons.update(part.statistics["reasons"])
    return IngestReport(store.stage("corpus").rows, dict(reasons))
