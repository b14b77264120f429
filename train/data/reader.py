"""Streaming rows: one window of token ids in memory, zipped by row_id over the chosen columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from augment_cli.errors import BadInputError
from augment_cli.store.store import Store
from train.data.labels import unfit_rows
from train.data.order import PADDING_ROW, Window, rank_slice, row_groups, windows
from train.data.texts import Texts
from train.data.weights import Weighting

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Batch:
    """A rank's slice of one global batch.

    Attributes
    ----------
    step : int
        Number of the batch in its epoch.
    global_row_ids : numpy.ndarray
        Shape (B,), int64: the row ids of the whole batch; `PADDING_ROW` for padding of the last, short batch.
    row_ids : numpy.ndarray
        This rank's slice of them.
    columns : dict of str to Texts
        For each column the token ids of every row of the slice, without special tokens; none where an
        augmentation left the row unchanged, and for padding.
    epoch : int
        Number of the epoch.
    """

    step: int
    global_row_ids: np.ndarray
    row_ids: np.ndarray
    columns: dict[str, Texts]
    epoch: int


@dataclass(frozen=True)
class _Column:
    """The texts of one stage in one window, and how long they are in the store, where they are whole."""

    texts: Texts
    lengths: np.ndarray


@dataclass(frozen=True)
class _Rows:
    """Rows of a window still to be used."""

    columns: dict[str, _Column]
    order: np.ndarray
    row_ids: np.ndarray

    def __getitem__(self, span: slice) -> _Rows:
        return _Rows(self.columns, self.order[span], self.row_ids[span])

    def __len__(self) -> int:
        return len(self.order)


class Reader:
    """Batches of a store's rows in the order of `train.data.order`.

    Parameters
    ----------
    store : Store
        Where the token stages lie.
    stages : dict of str to list of str
        Column name to the token stages of its draws, such as ``{"una": ["tokens/1f…/una",
        "tokens/1f…/una.1"]}``; epoch e reads draw e mod K.
    batch : int
        B, rows of the global batch.
    seed : int
        What the order depends on, besides the row groups.
    window : int, optional
    held_out : float, optional
    keep : numpy.ndarray or None, optional
        See `train.data.order.windows`.
    rank, ranks : int, optional
        Which slice of each batch this process takes.
    workers : int, optional
        Threads that read windows ahead, each holding one; 0 reads in the caller. Changes nothing but the
        speed.
    length_homogeneous : bool, optional
        Make batches of rows of like length. This decides which negatives meet, so it changes the method.
    labels : dict of str to str, optional
        Column name to the label that its rows must have; others count as unchanged.
    weighting : Weighting, optional
        How often each row comes; None for once an epoch.
    finish : callable, optional
        What is done to all texts of a row group, so that it need not be done in each batch.
    """

    def __init__(
        self,
        store: Store,
        stages: dict[str, list[str]],
        *,
        batch: int,
        seed: int,
        window: int = 16,
        held_out: float = 0.0,
        rank: int = 0,
        ranks: int = 1,
        workers: int = 1,
        length_homogeneous: bool = False,
        keep: np.ndarray | None = None,
        labels: dict[str, str] | None = None,
        weighting: Weighting | None = None,
        finish: Callable[[Texts], Texts] | None = None,
    ) -> None:
        self.labels = labels or {}
        self.store, self.stages, self.batch = store, stages, batch
        self.seed, self.window, self.held_out, self.keep = seed, window, held_out, keep
        self.slice = rank_slice(batch, rank, ranks)
        self.workers, self.length_homogeneous = workers, length_homogeneous
        self.weighting, self.finish = weighting, finish
        self.groups = row_groups(store.parts)

    def epoch(self, epoch: int, first_step: int = 0) -> Iterator[Batch]:
        """The batches of an epoch; windows before its first step are not read.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        first_step : int, optional
            Number of the first batch wanted.
        """
        first = first_step * self.batch
        step, waiting = first_step, list[_Rows]()
        times = None if self.weighting is None else self.weighting.times(epoch)
        in_order = windows(self.groups, self.seed, epoch, self.window, self.held_out, self.keep, times)
        needed = (window for window in in_order if window.start + len(window.order) > first)
        for window, columns in map_ahead(
            lambda window: (window, self._read(window, epoch)), needed, self.workers
        ):
            rows = _Rows(columns, window.order, window.row_ids)
            if self.length_homogeneous:
                rows = self._by_length(rows, window.start, epoch)
            rows = rows[max(0, first - window.start) :]
            while (missing := self.batch - sum(map(len, waiting))) <= len(rows):
                yield self._batch(epoch, step, [*waiting, rows[:missing]])
                step, waiting, rows = step + 1, [], rows[missing:]
            waiting = [*waiting, rows] if len(rows) else waiting
        if waiting:
            yield self._batch(epoch, step, waiting)

    def _by_length(self, rows: _Rows, start: int, epoch: int) -> _Rows:
        """Sort a window's rows by the first column's length, and permute the resulting batches.

        The first rows are left as they are: they fill the batch that the windows before, which may not have
        been read, left short.
        """
        first = min(-start % self.batch, len(rows))
        column = next(iter(rows.columns.values()))
        order = first + np.argsort(column.lengths[rows.order[first:]], kind="stable")
        batches = [order[begin : begin + self.batch] for begin in range(0, len(order), self.batch)]
        short = [batches.pop()] if batches and len(batches[-1]) < self.batch else []
        permuted = np.random.default_rng([self.seed, epoch, start]).permutation(len(batches))
        order = np.concatenate([np.arange(first), *(batches[index] for index in permuted), *short])
        return _Rows(rows.columns, rows.order[order], rows.row_ids[order])

    def _read(self, window: Window, epoch: int) -> dict[str, _Column]:
        columns = {}
        for name, draws in self.stages.items():
            stage = draws[epoch % len(draws)]
            texts, lengths = [], []
            for group in window.groups:
                table = self.store.read_part(stage, group.part, ["row_id", "ids"], [group.index])
                expected = np.arange(group.first_row, group.first_row + group.rows)
                if not np.array_equal(table["row_id"].to_numpy(), expected):
                    raise BadInputError(
                        f"{self.store.part_path(stage, group.part)}: row group {group.index} does not hold "
                        f"the {group.rows} rows from {group.first_row}; remove the stage and run again"
                    )
                unfit = None
                if name in self.labels:
                    text_stage = stage.split("/", 2)[-1]  # of tokens/DIGEST/STAGE
                    unfit = unfit_rows(self.store, text_stage, group.part, self.labels[name], [group.index])
                whole = stored_texts(table, unfit)
                lengths.append(whole.lengths)
                texts.append(self.finish(whole) if self.finish else whole)
            columns[name] = _Column(Texts.joined(texts), np.concatenate(lengths))
        return columns

    def _batch(self, epoch: int, step: int, pieces: list[_Rows]) -> Batch:
        ids = np.full(self.batch, PADDING_ROW, dtype=np.int64)
        known = np.concatenate([piece.row_ids for piece in pieces])
        ids[: len(known)] = known
        own, begin = [], 0  # the pieces of this rank's slice
        for piece in pieces:
            first, last = (
                min(max(0, side - begin), len(piece)) for side in (self.slice.start, self.slice.stop)
            )
            own.append(piece[first:last])
            begin += len(piece)
        padding = Texts.missing(self.slice.stop - self.slice.start - sum(map(len, own)))
        cells = {
            name: Texts.joined([*(piece.columns[name].texts.take(piece.order) for piece in own), padding])
            for name in self.stages
        }
        return Batch(step, ids, ids[self.slice], cells, epoch)


def stored_texts(table: pa.Table, unfit: np.ndarray | None = None) -> Texts:
    """The token ids of a row group.

    Parameters
    ----------
    table : pyarrow.Table
        With the column ``ids``.
    unfit : numpy.ndarray or None, optional
        Rows that are to count as without a text, shape (rows,), bool.
    """
    ids = table["ids"].combine_chunks()
    present = ids.is_valid().to_numpy(zero_copy_only=False)
    values = ids.flatten().to_numpy()  # leaves out what is null
    lengths = np.where(present, np.diff(ids.offsets.to_numpy()).astype(np.int64), 0)
    if unfit is not None:
        values = values[np.repeat(~unfit, lengths)]
        present, lengths = present & ~unfit, np.where(unfit, 0, lengths)
    return Texts(values, lengths, present)


def changed_rows(store: Store, stages: Iterable[str]) -> np.ndarray | None:
    """Which rows all of the given augmentations changed.

    Parameters
    ----------
    store : Store
        Where the stages are.
    stages : iterable of str
        Names of augmentation stages.

    Returns
    -------
    numpy.ndarray or None
        Shape (corpus rows,), bool; None without any stage.
    """
    keep = None
    for stage in stages:
        # A part's texts are dropped before the next is read.
        parts = range(len(store.parts))
        changed = np.concatenate(
            [store.read_part(stage, part, ["text"])["text"].is_valid().to_numpy() for part in parts]
        )
        keep = changed if keep is None else keep & changed
    return keep


def map_ahead(
    function: Callable[[T], R], items: Iterable[T], workers: int, depth: int | None = None
) -> Generator[R]:
    """`map`, with threads working ahead.

    Parameters
    ----------
    function : callable
        Called in the threads.
    items : iterable
        What it is called with.
    workers : int
        Threads; 0 calls it in the caller.
    depth : int or None, optional
        Most results that wait for the caller; by default as many as workers.

    Yields
    ------
    Any
        The results, in the order of the items.
    """
    if not workers:
        yield from map(function, items)
        return
    futures: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="read-ahead") as pool:
        try:
            for item in items:
                futures.append(pool.submit(function, item))
                if len(futures) > (depth or workers):
                    yield futures.popleft().result()
            while futures:
                yield futures.popleft().result()
        finally:
            for future in futures:
                future.cancel()


def ahead(items: Iterator[T], depth: int) -> Generator[T]:
    """The same items, taken by a thread ahead of the caller.

    Parameters
    ----------
    items : iterator
        Runs in the thread.
    depth : int
        Most items that wait for the caller; 0 takes them in the caller.

    Yields
    ------
    Any
        The items.
    """
    end = object()
    iterator = iter(items)
    results = map_ahead(lambda _: next(iterator, end), iter(int, 1), 1 if depth else 0, depth)
    for item in results:
        if item is end:
            results.close()
            return
        yield item  # type: ignore[misc]
