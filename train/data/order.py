"""Which row comes when, and torch's seeds: pure functions of (parts, seed, epoch), and of what is drawn.

An epoch permutes the row groups, joins them into windows of `window` row groups, and permutes the rows
inside each window. So a reader holds one window in memory and still mixes rows from all over the corpus.
The order knows nothing of ranks: step s takes the positions [s·B, (s+1)·B), and ranks only slice them.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augment_cli.contract.draws import splitmix64, unit_interval
from augment_cli.store.parquet import ROW_GROUP_ROWS

PADDING_ROW = -1  # the row id of padding in the last, short batch
# Keys that keep the three kinds of draws apart; any fixed numbers do.
_GROUPS, _ROWS, _HELD_OUT = 0x67726F75, 0x726F7773, 0x68656C64


@dataclass(frozen=True)
class RowGroup:
    """A Parquet row group: where it is, and which rows it holds."""

    part: int  # number of the part
    index: int  # of the row group within the part
    first_row: int  # the first row's row_id
    rows: int  # how many rows it holds


@dataclass(frozen=True)
class Window:
    """Row groups read together, and the order in which their rows are used."""

    start: int  # position in the epoch of the window's first row
    groups: tuple[RowGroup, ...]  # in the order in which they are concatenated
    order: np.ndarray  # row numbers into that concatenation, shape (rows used,), int64
    row_ids: np.ndarray  # the same rows by their row_id


def row_groups(parts: Sequence[tuple[int, int]], rows_per_group: int = ROW_GROUP_ROWS) -> list[RowGroup]:
    """The row groups of all parts, in corpus order."""
    return [
        RowGroup(part, index, first + start, min(rows_per_group, rows - start))
        for part, (first, rows) in enumerate(parts)
        for index, start in enumerate(range(0, rows, rows_per_group))
    ]


def is_held_out(row_ids: np.ndarray, fraction: float) -> np.ndarray:
    """Which rows are kept from training: the same ones for every seed, epoch and corpus size."""
    bits = splitmix64(np.uint64(0), row_ids.astype(np.uint64) + np.uint64(_HELD_OUT))
    return unit_interval(bits) < fraction


def windows(
    groups: Sequence[RowGroup],
    seed: int,
    epoch: int,
    window: int = 16,
    held_out: float = 0.0,
    keep: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> Iterator[Window]:
    """The windows of an epoch in order."""
    # keep: which rows of the corpus may be used, and times: how often each of them comes, (corpus rows,).
    permuted = np.random.default_rng([seed, epoch, _GROUPS]).permutation(len(groups))
    start = 0
    for number, first in enumerate(range(0, len(groups), window)):
        chosen = tuple(groups[index] for index in permuted[first : first + window])
        ids = np.concatenate([np.arange(group.first_row, group.first_row + group.rows) for group in chosen])
        used = np.flatnonzero(is_used(ids, held_out, keep))
        if times is not None:
            used = np.repeat(used, times[ids[used]])
        order = np.random.default_rng([seed, epoch, _ROWS, number]).permutation(used)
        yield Window(start, chosen, order, ids[order])
        start += len(order)


def epoch_rows(groups: Sequence[RowGroup], held_out: float = 0.0, keep: np.ndarray | None = None) -> int:
    """Number of rows an epoch uses."""
    spans = (np.arange(group.first_row, group.first_row + group.rows) for group in groups)
    return sum(int(is_used(ids, held_out, keep).sum()) for ids in spans)


def is_used(ids: np.ndarray, held_out: float, keep: np.ndarray | None) -> np.ndarray:
    """Which rows are trained on; `keep`: which of the corpus may be."""
    used = ~is_held_out(ids, held_out) if held_out else np.ones(len(ids), dtype=bool)
    return used if keep is None else used & keep[ids]


def rank_slice(batch: int, rank: int, ranks: int) -> slice:
    """The rows of a global batch that a rank encodes: contiguous, together exactly the batch."""
    return slice(batch * rank // ranks, batch * (rank + 1) // ranks)


def draw_key(*names: Any) -> int:
    """A seed for `torch.manual_seed` that depends on the names alone."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seed_torch(*names: Any) -> None:
    """Seed torch's draws on the CPU, and on GPUs where they are used, by `draw_key`."""
    import torch

    # `torch.manual_seed` does the same and, on a machine without a GPU, keeps a call with its stack for each
    # kind of device that might be used later: milliseconds a step, and memory that grows.
    key = draw_key(*names)
    torch.default_generator.manual_seed(key)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(key)
