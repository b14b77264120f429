"""Run an augmentation that needs a model over a store: batch by batch, each kept as soon as it is done.

A part's batches are fixed once and then made by any worker in any order; what goes through the model
together was decided before, so parts come out byte-identical after any interruption. Each batch is a piece of
the journal; when all those of a part are there, this process puts them together and commits the part.
"""

import contextlib
import dataclasses
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import PreparedModel
from augment_cli.contract.rows import Rows
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.tables import add_statistics, as_table, empty_statistics, schema_of
from augment_cli.store.files import hold_lock
from augment_cli.store.journal import Journal, MissingPieceError, make_parts
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store

_SECONDS_BETWEEN_LOOKS = 0.5
_PLAN = "plan"  # beside the batches of a part: which rows each of them has
_SPLITS_KEY = b"splits"  # how often memory made a batch be cut


class ModelStage:
    """One run over the missing parts of a model's stage."""

    def __init__(
        self,
        store: Store,
        run: AugmentationRun,
        stage: str,
        settings: Settings,
        engine: Engine,
        progress: Callable[[int], None],
    ) -> None:
        self._store, self._run, self._stage, self._settings = store, run, stage, settings
        self._engine = _engine_for(engine, run.parameters.device)
        self._progress = progress
        self._journal = Journal(store.work, stage, settings)
        self._counted: dict[int, int] = {}  # rows of each part that were reported as done

    def make(self, parts: Sequence[int]) -> None:
        """Make and commit these parts; what earlier runs left in their journals is used."""
        stop = self._store.work / self._stage / f"stop-{os.getpid()}"
        stop.parent.mkdir(parents=True, exist_ok=True)
        stop.unlink(missing_ok=True)
        try:
            unbegun = [index for index in sorted(parts) if not _batches(self._journal, index)]
            self._run_tasks("begin_part", [{"index": index} for index in unbegun], stop, lambda result: None)
            sizes = {index: list(map(len, _batches(self._journal, index))) for index in parts}

            def make(missing: dict[int, list[int]], look_at: Callable[[int], None]) -> None:
                self._run_tasks("make_batches", self._tasks(missing, stop), stop, look_at)

            with self._watching(sorted(parts)):
                make_parts(self._journal, sizes, make, lambda index: self._join(index, sizes[index]))
        finally:
            stop.unlink(missing_ok=True)

    def _tasks(self, missing: dict[int, list[int]], stop: Path) -> list[dict[str, Any]]:
        """Unfinished batches of each part, dealt out so that all workers have something to do to the end."""
        tasks = []
        groups = math.ceil(self._engine.jobs * (1 if len(missing) == 1 else 2) / len(missing))
        for index, batches in missing.items():
            # Batches are sorted by length, so every group of each n-th one costs about the same.
            shares = [batches[start::groups] for start in range(groups)]
            tasks += [{"index": index, "batches": share, "stop": stop} for share in shares if share]
        return tasks

    def _run_tasks(
        self, function: str, tasks: list[dict[str, Any]], stop: Path, done: Callable[[Any], None]
    ) -> None:
        common = {
            "store_path": self._store.path,
            "stage": self._stage,
            "run": self._run,
            "settings": self._settings,
        }
        name = f"augment_cli.runs.model_stage:{function}"
        self._engine.run(name, [common | task for task in tasks], done, stop.touch, "batches")

    def _join(self, index: int, sizes: Sequence[int]) -> None:
        """Put a part together from its batches, and commit it."""
        batches = list(self._journal.read_part(index, sizes))
        splits = sum(int(batch.schema.metadata[_SPLITS_KEY]) for batch in batches)
        schema = schema_of(self._run.augmentation)
        tables = [batch.replace_schema_metadata(None) for batch in batches]
        table = pa.concat_tables([schema.empty_table(), *tables]).sort_by("row_id")
        statistics = empty_statistics()
        statistics["sums"]["memory_splits"] = splits

        def groups() -> Iterator[pa.Table]:
            for start in range(0, table.num_rows, ROW_GROUP_ROWS):
                group = table.slice(start, ROW_GROUP_ROWS).combine_chunks()
                add_statistics(statistics, group)
                yield group

        pending = self._store.write_part(self._stage, index, schema, groups(), self._settings, statistics)
        self._store.commit(pending)
        self._count(index, self._run.rows_in_reach(*self._store.parts[index]))

    # --- progress: workers only leave files, so this process looks at them

    def _count(self, index: int, rows: int) -> None:
        before = self._counted.get(index, 0)
        if rows > before:
            self._counted[index] = rows
            self._progress(rows - before)

    @contextlib.contextmanager
    def _watching(self, parts: list[int]) -> Iterator[None]:
        sizes = {}  # rows of each batch that the model is run on: those before a certain row, if not all
        for index in parts:
            reached = self._run.rows_in_reach(*self._store.parts[index])
            sizes[index] = [int((batch < reached).sum()) for batch in _batches(self._journal, index)]
        over = threading.Event()

        def look() -> None:
            while not over.wait(_SECONDS_BETWEEN_LOOKS):
                for index, own in sizes.items():
                    finished = self._journal.finished(index)
                    self._count(index, sum(own[number] for number in finished if number < len(own)))

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _engine_for(engine: Engine, device: str) -> Engine:
    if device != "cuda":
        return engine
    import torch

    return dataclasses.replace(engine, jobs=max(1, torch.cuda.device_count()), needs_gpu=True)


# --- in the workers


def begin_part(store_path: Path, stage: str, index: int, run: AugmentationRun, settings: Settings) -> int:
    """Fix which rows of a part go through the model together."""
    store = Store.open(store_path)
    texts = store.read_part("corpus", index, ["text"])["text"].combine_chunks()
    batches = _prepared(store, run).batches_of(texts)
    journal = Journal(store.work, stage, settings)
    journal.remove(index)  # batches whose plan is lost
    journal.write(index, _PLAN, pa.table({"rows": pa.array(batches, pa.list_(pa.int64()))}))
    return index


def _batches(journal: Journal, index: int) -> list[np.ndarray]:
    """The batches of a part as they were fixed, int64 positions of rows in it; none if they were not yet."""
    try:
        return [batch.values.to_numpy() for batch in journal.read(index, _PLAN)["rows"]]
    except MissingPieceError:
        return []


def make_batches(
    store_path: Path,
    stage: str,
    index: int,
    run: AugmentationRun,
    settings: Settings,
    batches: Sequence[int],
    stop: Path,
) -> int:
    """Make some batches of a part, each kept when it is done; stop between two of them when asked to."""
    store = Store.open(store_path)
    journal = Journal(store.work, stage, settings)
    fixed = _batches(journal, index)
    if not fixed:
        raise MixError(f"{journal.folder}: another process changed it; run the same command again, alone")
    corpus = store.read_part("corpus", index, ["row_id", "text"])
    prepared = _prepared(store, run)
    with _device(store.work / stage, run.parameters.device) as device:
        prepared.use_device(device)
        for number in batches:
            if stop.exists():
                break
            if number in journal.finished(index):  # made before this worker's predecessor died
                continue
            rows = _rows_of(run, corpus.take(pa.array(fixed[number])))
            splits = prepared.splits
            table = as_table(run.augmentation, rows, prepared(rows))
            metadata = {_SPLITS_KEY: str(prepared.splits - splits)}
            journal.write(index, number, table.replace_schema_metadata(metadata))
    return index


def _prepared(store: Store, run: AugmentationRun) -> PreparedModel:
    return cast(PreparedModel, run.augmentation.prepare(run.parameters, run.resources(store)))


def _rows_of(run: AugmentationRun, corpus: pa.Table) -> Rows:
    texts = corpus["text"].combine_chunks()
    return Rows(corpus["row_id"].to_numpy(), texts, run.code_points(texts))


@contextlib.contextmanager
def _device(work: Path, device: str) -> Iterator[str]:
    """The device to run on: of several GPUs one that no other worker of this stage holds."""
    if device != "cuda":
        yield device
        return
    import torch

    count = torch.cuda.device_count()
    for number in range(count):
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(hold_lock(work / f"cuda-{number}.lock"))
            except MixError:
                continue
            yield f"cuda:{number}"
            return
    yield "cuda:0"  # more workers than GPUs: they share
