"""An augmentation over a store's parts."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.runs.again import option_of
from augment_cli.runs.model_stage import ModelStage
from augment_cli.runs.rows import rows_of_part
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.tables import add_statistics, as_table, empty_statistics, schema_of
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store


def augment_store(
    store: Store,
    run: AugmentationRun,
    stage: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    parts: Collection[int] | None = None,
) -> str:
    """Make an augmentation stage of a store; finished parts are kept."""
    folder, run = run.folder(stage), run.settled(store, stage)
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
        for rows in rows_of_part(store, index, run):
            table = as_table(run.augmentation, rows, prepared(rows))
            add_statistics(statistics, table)
            yield table

    return store.write_part(stage, index, schema_of(run.augmentation), tables(), settings, statistics)
