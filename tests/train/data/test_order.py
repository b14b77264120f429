"""The row order: every row exactly once, for every combination, without a file."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from train.data.order import PADDING_ROW, epoch_rows, is_held_out, row_groups, windows
from train.data.reader import Reader


def plan_of(rows, part_rows):
    return [(first, min(part_rows, rows - first)) for first in range(0, rows, part_rows)]


def epoch_order(groups, seed, epoch, window, held_out=0.0):
    actual = [part.row_ids for part in windows(groups, seed, epoch, window, held_out)]
    return np.concatenate(actual) if actual else np.zeros(0, dtype=np.int64)


GRID = list(itertools.product([1, 2, 7, 63, 64, 65, 500], [1, 2, 3, 7], [0, 1, 3], [1, 5, 64, 100], [1, 16]))


@pytest.mark.parametrize(
    ("rows", "ranks", "workers", "batch", "window"),
    [pytest.param(*case, marks=pytest.mark.slow if number % 5 else ()) for number, case in enumerate(GRID)],
)
def test_each_row_exactly_once_for_rows_ranks_workers_batch_window(rows, ranks, workers, batch, window):
    """What the reader of each rank hands out; without columns it opens no file."""
    store = SimpleNamespace(parts=plan_of(rows, 50))
    settings = {"batch": batch, "seed": 42, "window": window, "workers": workers, "ranks": ranks}
    readers = [Reader(store, {}, rank=rank, **settings) for rank in range(ranks)]
    steps = list(zip(*(reader.epoch(0) for reader in readers), strict=True))
    handed_out = [row for step in steps for part in step for row in part.row_ids.tolist()]
    real = [row for row in handed_out if row != PADDING_ROW]
    assert sorted(real) == list(range(rows))
    assert len(handed_out) == -(-rows // batch) * batch
    assert handed_out[: len(real)] == real  # padding stands at the very end
    np.testing.assert_array_equal(real, epoch_order(readers[0].groups, 42, 0, window))


@given(*(st.integers(1, most) for most in (900, 300, 64, 20, 2**31, 9)))
def test_an_epoch_is_a_permutation_and_a_pure_function(rows, part_rows, group_rows, window, seed, epoch):
    groups = row_groups(plan_of(rows, part_rows), group_rows)
    order = epoch_order(groups, seed, epoch, window)
    assert sorted(order) == list(range(rows))
    np.testing.assert_array_equal(order, epoch_order(groups, seed, epoch, window))
    assert epoch_rows(groups) == rows
    assert rows < 100 or tuple(order) != tuple(epoch_order(groups, seed, epoch + 1, window))


def test_rows_mix_inside_a_window_and_stay_in_it():
    groups = row_groups(plan_of(6400, 6400), 100)
    for part in windows(groups, 1, 0, 16):
        members = np.concatenate([np.arange(g.first_row, g.first_row + g.rows) for g in part.groups])
        assert sorted(part.row_ids) == sorted(members)
        np.testing.assert_array_equal(members[part.order], part.row_ids)
        batch = part.row_ids[:64] // 100
        assert len(set(batch)) > 10  # 64 rows drawn from 16 row groups meet most of them


def test_held_out_rows_are_those_of_the_row_id_alone():
    ids = np.arange(100_000)
    held = is_held_out(ids, 0.1)
    assert abs(held.mean() - 0.1) < 4 * (0.09 / len(ids)) ** 0.5
    np.testing.assert_array_equal(is_held_out(ids[::-1], 0.1), held[::-1])
    assert (is_held_out(ids, 0.3) >= held).all()  # a larger share keeps the smaller one
    groups = row_groups(plan_of(3000, 1000), 128)
    used = epoch_order(groups, 5, 1, 16, 0.1)
    assert sorted(used) == list(np.flatnonzero(~held[:3000]))
