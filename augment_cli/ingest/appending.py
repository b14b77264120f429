"""Files that join a corpus: further parts behind those that are there, all of them or none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from augment_cli.errors import UsageError
from augment_cli.ingest import as_read, corpus_settings, files_of, memory, read_into, repeated_ids, report_of
from augment_cli.ingest.options import IngestOptions, IngestReport
from augment_cli.ingest.writer import CorpusWriter
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import iterate_row_groups
from augment_cli.store.store import Store
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf import forms


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
    is_table = tfidf.is_term_table(stage) or stage.settings["stage"] == forms.FORMS_STAGE
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
