"""An augmentation over a store's parts."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.engine.engine import Engine
from augment_cli.languages import languages_of
from augment_cli.runs.again import option_of
from augment_cli.runs.chains import chained
from augment_cli.runs.model_stage import ModelStage
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.tables import add_statistics, as_table, empty_statistics, schema_of, unprotected
from augment_cli.store.schema import PARSES
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.syntax.language import Language
from augment_cli.syntax.parses import STRING_COLUMNS, ParseRows, stage_name
from augment_cli.text.spans import CodePoints
from augment_cli.tfidf.names import stage_names


def augment_store(
    store: Store,
    run: AugmentationRun,
    stage: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    parts: Collection[int] | None = None,
) -> str:
    """Make an augmentation stage of a store; finished parts are kept."""
    folder, run = run.folder(stage), run.resolved(store, stage)
    settings = run.settings(store)
    missing = store.begin(folder, settings, option=functools.partial(option_of, store))
    if "model" in run.needs:
        pinned = dataclasses.replace(run, parameters=run.augmentation.pin(run.parameters))
        chosen = [index for index in missing if parts is None or index in parts]
        ModelStage(store, pinned, folder, settings, engine or Engine(), progress).make(chosen)
        store.clean_work(folder)
        return folder

    def commit(pending: PendingPart) -> None:
        store.commit(pending)
        progress(pending.part.rows)

    arguments = {"store_path": store.path, "stage": folder, "run": run, "settings": settings}
    tasks = [arguments | {"index": index} for index in missing if parts is None or index in parts]
    (engine or Engine()).run("augment_cli.runs.stored:augment_part", tasks, commit)
    store.clean_work(folder)
    return folder


def augment_part(
    store_path: Path, stage: str, index: int, run: AugmentationRun, settings: Settings
) -> PendingPart:
    """Augment one part of a store (in a worker) and leave the result to be committed."""
    store = Store.open(store_path)
    prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    statistics = empty_statistics()

    def tables() -> Iterator[pa.Table]:
        made = (as_table(run.augmentation, rows, prepared(rows)) for rows in rows_of_part(store, index, run))
        for table in chained(store, index, run) if run.of else made:
            add_statistics(statistics, table)
            yield table

    schema = schema_of(run.augmentation, bool(run.of))
    return store.write_part(stage, index, schema, tables(), settings, statistics)


def rows_of_part(store: Store, index: int, run: AugmentationRun) -> Iterator[Rows]:
    """The rows of a part, one row group after another, with what the augmentation needs of them."""
    corpus = store.iterate_part("corpus", index, ["row_id", "text"])
    needs = run.needs
    nothing: Iterator[None] = itertools.repeat(None)
    matrix: Iterator[pa.Table | None] = nothing
    parses: Iterator[pa.Table | None] = nothing
    if "tfidf" in needs:
        columns = ["term_ids", "starts", "ends", "weights"]
        matrix = store.iterate_part(stage_names(run.fit)[0], index, columns)
    languages: tuple[Language, ...] = ()
    if "parses" in needs:
        languages = languages_of(run.pipeline(store) or "")
        parses = store.iterate_part(stage_name(run.parses), index, PARSES.names[1:], STRING_COLUMNS)
    for table in corpus:
        texts = table["text"].combine_chunks()
        yield _rows_of(table, run.code_points(texts), next(matrix), next(parses), languages)


def _rows_of(
    table: pa.Table,
    code_points: CodePoints,
    matrix: pa.Table | None,
    parses: pa.Table | None,
    languages: tuple[Language, ...],
) -> Rows:
    return Rows(
        table["row_id"].to_numpy(),
        table["text"].combine_chunks(),
        code_points,
        None if matrix is None else unprotected(_token_rows(matrix), code_points),
        None if parses is None else ParseRows.from_table(parses, code_points, languages),
    )


def _token_rows(table: pa.Table) -> TokenRows:
    lists = {name: table[name].combine_chunks() for name in table.column_names}
    offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
    flat = {name: column.flatten().to_numpy() for name, column in lists.items()}
    return TokenRows(offsets - offsets[0], flat["term_ids"], flat["starts"], flat["ends"], flat["weights"])
