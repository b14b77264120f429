"""Ingest: text files to the corpus, new parts behind those there; what is no sentence to the rejects."""

import dataclasses
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest import memory, sentences
from augment_cli.ingest.checks import JOINED, RawLines
from augment_cli.ingest.finding import STDIN, find_files, is_plain_text
from augment_cli.ingest.options import IngestOptions, IngestReport
from augment_cli.ingest.readers import NO_VALUE, field_of, fields_of, read_file
from augment_cli.ingest.sentences import marks_no_sentences, split_raw_lines
from augment_cli.ingest.streams import CorpusFile, LocalFile
from augment_cli.ingest.writer import CorpusWriter
from augment_cli.store.files import sha256_of_json
from augment_cli.store.manifest import Part, Stage
from augment_cli.store.parquet import iterate_row_groups
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf import term_table

VERSION = 1
_ALWAYS_NAMED = (
    *("text_column", "id_column", "limit", "max_characters", "part_rows"),
    *("format", "quoting", "split_sentences", "deduplicate"),
)


def corpus_settings(files: Sequence[tuple[CorpusFile, str]], options: IngestOptions) -> Settings:
    """What the corpus stage depends on: the files' names and digests, and how they are read."""
    options = as_read(files, options)
    digests = [[name, file.sha256()] for file, name in files]
    named = {  # only where it is not as in releases that did not know of it
        "near_similarity": options.near_similarity if options.deduplicate == "near" else None,
        "encoding": options.encoding if options.encoding != "utf-8" else None,
        "splitting": sentences.VERSION if options.split_sentences else None,
        "separator": options.separator,
        "line_breaks": options.line_breaks if options.line_breaks != "reject" else None,
        "keep_columns": list(options.kept) or None,
    }
    parameters = {name: getattr(options, name) for name in _ALWAYS_NAMED}
    parameters |= {name: value for name, value in named.items() if value is not None}
    inputs = {"files": sha256_of_json(digests)}
    libraries = library_versions(["nltk"] if options.split_sentences else [])
    return Settings("corpus", VERSION, parameters, inputs=inputs, libraries=libraries)


def as_read(
    files: Sequence[tuple[CorpusFile, str]], options: IngestOptions, store: Store | None = None
) -> IngestOptions:
    """The options as the files are read: lines of plain text hold no line break that could be joined."""
    # Releases up to 1.0.0 set such rows aside and recorded nothing; a corpus that was begun so stays so.
    stage = store.stage("corpus") if store is not None and "corpus" in store.stages() else None
    is_older = stage is not None and "line_breaks" not in stage.settings["parameters"]
    has_columns = options.text_column or options.id_column or options.kept
    is_text = not has_columns and all(is_plain_text(file, options) for file, _ in files)
    if options.line_breaks == "join" and (is_text or is_older):
        return dataclasses.replace(options, line_breaks="reject")
    return options


def ingest(
    store: Store,
    corpus: Sequence[str | Path],
    options: IngestOptions | None = None,
    *,
    strict: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
    make_room: Callable[[], object] | None = None,
) -> IngestReport:
    """Read a corpus into the store's `corpus` and `rejects` stages."""
    options = options or IngestOptions()
    left_out: list[str] = []
    files = files_of(store, corpus, left_out)
    options = as_read(files, options, None if make_room else store)
    settings = corpus_settings(files, options)
    if make_room is None:
        missing = [store.begin(stage, settings) for stage in ("corpus", "rejects") if stage in store.stages()]
        if missing == [[], []]:
            store.clean_work("stdin")
            return dataclasses.replace(report_of(store), left_out=tuple(left_out))

    with CorpusWriter(store, settings, options) as writer:
        read_into(files, writer, options, strict, progress)
        writer.finish()
        if make_room is not None:
            make_room()
        writer.commit()
    store.clean_work("stdin")
    notes = (*writer.notes, *repeated_ids(store, options))
    return dataclasses.replace(report_of(store), left_out=tuple(left_out), notes=notes)


def repeated_ids(store: Store, options: IngestOptions) -> list[str]:
    """Whether rows of a corpus have one id, for people; sentences cut from one text have it on purpose."""
    if not options.id_column or options.split_sentences:
        return []
    import polars

    known = [polars.Series([], dtype=polars.UInt64)]
    for index in range(len(store.parts)):
        for table in iterate_row_groups(store.part_path("corpus", index), ["id"]):
            known.append(polars.from_arrow(table["id"]).hash())  # type: ignore[union-attr]
    hashes = polars.concat(known)
    repeated = len(hashes) - hashes.n_unique()
    if not repeated:
        return []
    row = int(hashes.is_first_distinct().not_().arg_max() or 0)
    index = next(index for index, (first, rows) in enumerate(store.parts) if row < first + rows)
    identity = store.read_rows("corpus", index, [row - store.parts[index][0]], ["id"])["id"][0].as_py()
    return [f"{repeated:,} of {len(hashes):,} rows repeat an id, first row {row} the id {identity!r}"]


def files_of(store: Store, corpus: Sequence[str | Path], left_out: list[str]) -> list[tuple[CorpusFile, str]]:
    """The files to read, standard input behind the others; `left_out` gets what is one of them again."""
    files = find_files([entry for entry in corpus if entry != STDIN], left_out)
    return [*files, (LocalFile(_spool(store)), "stdin")] if STDIN in corpus else files


def read_into(
    files: Sequence[tuple[CorpusFile, str]],
    writer: CorpusWriter,
    options: IngestOptions,
    strict: bool,
    progress: Callable[[int], None],
) -> None:
    """Hand all lines of some files to the writer; refuse files without a sentence, or that changed."""
    first = writer.kept
    for raw_lines in _ahead(_read_pieces(files, options, writer.note)):
        before = writer.kept
        writer.add(raw_lines, strict)
        progress(writer.kept - before)
        if writer.is_full:
            break
    if writer.kept == first:
        counts = ", ".join(f"{count:,} lines {reason}" for reason, count in sorted(writer.reasons.items()))
        if writer.without_field is not None:
            _refuse_fields(files[0][0], json.loads(writer.without_field), options)
        raise BadInputError(
            f"{', '.join(str(path) for path, _ in files[:3])}: no sentence could be read "
            f"({counts or 'the input is empty'}){IngestReport(0, dict(writer.reasons)).remedy}"
        )
    for file, _ in files:
        file.refuse_change()


def _refuse_fields(file: CorpusFile, record: Any, options: IngestOptions) -> None:
    """Name the fields that an object has, where it lacks one that was asked for."""
    if not isinstance(record, dict):
        return
    known = ", ".join(name for name, _ in fields_of(record)) or "none"
    for name, option in (
        (options.text_column or "text", "--text-column"),
        (options.id_column, "--id-column"),
    ):
        if name is not None and field_of(record, name, NO_VALUE) is NO_VALUE:
            raise UsageError(f"{file}: has no field {name!r}, it has {known}; name one with {option}")


def _read_pieces(
    files: Sequence[tuple[CorpusFile, str]], options: IngestOptions, note: Callable[[str, str], None]
) -> Iterator[RawLines]:
    for path, source in files:
        for number, raw_lines in enumerate(read_file(path, source, options, note)):
            if options.split_sentences and not number and marks_no_sentences(raw_lines.texts):
                note(source, "its script does not mark where a sentence ends, so lines are not cut")
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


def report_of(store: Store, number: int | None = None) -> IngestReport:
    """Counts of the store's corpus, from the manifest."""
    reasons: Counter[str] = Counter()
    for part in _parts_of(store.stage("rejects"), number):
        reasons.update(part.statistics["reasons"])
    parts = _parts_of(store.stage("corpus"), number)
    joined = sum(part.statistics.get(JOINED, 0) for part in parts)
    return IngestReport(sum(part.rows for part in parts), dict(reasons), joined=joined)


def _parts_of(stage: Stage, number: int | None) -> list[Part]:
    if number is None:
        return list(stage.parts.values())
    bounds = [0, *(earlier.parts for earlier in stage.earlier), stage.expected_parts]
    return [part for index, part in stage.parts.items() if bounds[number] <= index < bounds[number + 1]]


def append(
    store: Store,
    corpus: Sequence[str | Path],
    options: IngestOptions,
    *,
    strict: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> IngestReport:
    """Read further files into a store's corpus, as parts behind those that are there."""
    # Row numbers go on; no part that is there changes. Stages that have a part for each one of the corpus
    # are unfinished from then on. A kill at any moment leaves the corpus as it was, or with all of the
    # files.
    left_out: list[str] = []
    files = files_of(store, corpus, left_out)
    options = as_read(files, options)
    settings = corpus_settings(files, options)
    # The parts depend on the files, and on all that is there before them.
    before = {"appended_to": store.stage("corpus").digest}
    settings = dataclasses.replace(settings, inputs=settings.inputs | before)
    for number, known in enumerate(store.stage("corpus").all_settings):
        if known["inputs"].get("files") == settings.inputs["files"]:
            store.clean_work("stdin")
            return report_of(store, number)
    notes = _same_names(store, [name for _, name in files])
    with CorpusWriter(store, settings, options, appends=True) as writer:
        read_into(files, writer, options, strict, progress)
        writer.append([name for name in store.stages() if _goes_with_corpus(store.stage(name))])
    store.clean_work("stdin")
    report = report_of(store, len(store.stage("corpus").earlier))
    notes = [*writer.notes, *notes, *repeated_ids(store, options)]
    return dataclasses.replace(report, left_out=tuple(left_out), notes=tuple(notes))


def _same_names(store: Store, names: Sequence[str]) -> list[str]:
    """Of which files the corpus has others of the same name, for people; streams and memory have no names."""
    asked = set(names) - {"stdin", memory.SOURCE}
    there: set[str] = set()
    for index in range(len(store.parts) if asked else 0):
        for table in iterate_row_groups(store.part_path("corpus", index), ["source"]):
            there.update(asked.intersection(table["source"].unique().to_pylist()))
    return [
        f"{name}: the corpus has a source of this name already; lines of this one have row ids from "
        f"{store.rows:,}"
        for name in sorted(there)[:3]
    ]


def _goes_with_corpus(stage: Stage) -> bool:
    """Whether a stage has a part for each part of the corpus."""
    is_table = tfidf.is_term_table(stage) or stage.settings["stage"] == term_table.FORMS_STAGE
    return stage.settings["stage"] != "corpus" and not is_table


def check_appendable(store: Store) -> None:
    """See that there is a whole corpus, of which nothing was left out on purpose."""
    if not (store.has("corpus") and store.has("rejects")):
        raise UsageError(f"{store.path}: has no finished corpus to append to; leave --append out")
    limit = store.stage("corpus").settings["parameters"].get("limit")
    if limit is not None:
        raise UsageError(
            f"{store.path}: its corpus is the first {limit:,} sentences (--limit), so more would leave a "
            "gap; read all files without --limit into another --store"
        )


def what_was_appended(store: Store, report: IngestReport, before: int) -> str:
    """For people: how many sentences, as which parts, and which stages lack these now."""
    if len(store.parts) == before:
        return "These files are in the corpus already; nothing was appended."
    last = len(store.parts) - 1
    parts = f"part {last}" if last == before else f"parts {before} to {last}"
    said = f"{report.kept:,} sentence{'' if report.kept == 1 else 's'} appended as {parts}"
    if behind := ", ".join(name for name in store.stages() if not store.has(name)):
        said += f"; {behind}: without these parts, `augment-cli run --behind --store {store.path}` makes them"
    return said
