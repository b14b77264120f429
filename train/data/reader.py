"""Streaming rows: one window of token ids in memory, zipped by row_id over the chosen columns."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from augment_cli.errors import BadInputError
from augment_cli.store.kinds import wrong_ids
from augment_cli.store.store import Store
from train.data import Texts
from train.data.order import PADDING_ROW, Window, rank_slice, row_groups, windows

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Batch:
    """A rank's slice of one global batch."""

    step: int  # number of the batch in its epoch
    row_ids: np.ndarray  # of this rank's rows, int64; `PADDING_ROW` for padding of the last, short batch
    # Token ids of every row without special tokens; none where an augmentation left the row unchanged.
    columns: dict[str, Texts]
    epoch: int  # number of the epoch


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

    def __getitem__(self, span: slice) -> "_Rows":
        return _Rows(self.columns, self.order[span], self.row_ids[span])

    def __len__(self) -> int:
        return len(self.order)


@dataclass
class Reader:
    """Batches of a store's rows in the order of `train.data.order`."""

    store: Store
    # Column to the token stages of its draws, such as {"una": ["tokens/1f…/una", "tokens/1f…/una.1"]}, of
    # which epoch e reads draw e mod K.
    stages: dict[str, list[str]]
    batch: int
    seed: int
    window: int = 16
    held_out: float = 0.0
    rank: int = 0
    ranks: int = 1
    workers: int = 1  # threads that read windows ahead, each holding one; they change nothing but the speed
    length_homogeneous: bool = False
    keep: np.ndarray | None = None
    # By stage of texts, whose rows may be used, (corpus rows,), bool; others count as unchanged.
    usable: Mapping[str, np.ndarray] = field(default_factory=dict)
    weighting: Any = None
    finish: Callable[[Texts], Texts] | None = None  # done to all texts of a row group
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        self.slice = rank_slice(self.batch, self.rank, self.ranks)
        self.groups = row_groups(self.store.parts)

    def epoch(self, epoch: int, first_step: int = 0) -> Iterator[Batch]:
        """The batches of an epoch; windows before its first step are not read."""
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
        """Sort a window's rows by the first column's length, and permute the resulting batches."""
        # The first rows are left as they are: they fill the batch that the windows before, which may not have
        # been read, left short.
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
                if problems := wrong_ids(table["ids"], self.vocabulary):
                    path = self.store.part_path(stage, group.part)
                    raise BadInputError(f"{path}: {problems[0]}; `augment-cli remove {stage}`, and run again")
                usable = self.usable.get(stage.split("/", 2)[-1])  # of tokens/DIGEST/STAGE
                own = slice(group.first_row, group.first_row + group.rows)
                whole = stored_texts(table, None if usable is None else usable[own])
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
        return Batch(step, ids[self.slice], cells, epoch)


def stored_texts(table: pa.Table, usable: np.ndarray | None = None) -> Texts:
    """The token ids of a row group."""
    # usable: which rows are not to count as without a text, (rows,), bool.
    ids = table["ids"].combine_chunks()
    present = ids.is_valid().to_numpy(zero_copy_only=False)
    values = ids.flatten().to_numpy()  # leaves out what is null
    lengths = np.where(present, np.diff(ids.offsets.to_numpy()).astype(np.int64), 0)
    if usable is not None:
        values = values[np.repeat(usable, lengths)]
        present, lengths = present & usable, np.where(usable, lengths, 0)
    return Texts(values, lengths, present)


def map_ahead(
    function: Callable[[T], R], items: Iterable[T], workers: int, depth: int | None = None
) -> Generator[R]:
    """`map`, with threads working ahead."""
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
    """The same items, taken by a thread ahead of the caller."""
    end = object()
    iterator = iter(items)
    results = map_ahead(lambda _: next(iterator, end), iter(int, 1), 1 if depth else 0, depth)
    for item in results:
        if item is end:
            results.close()
            return
        yield item  # type: ignore[misc]
