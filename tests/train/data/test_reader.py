"""Streaming: rows, windows, ranks, draws, reading ahead."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.augmentations.labels import usable_rows
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError
from augment_cli.store.files import sha256_of_file
from augment_cli.store.store import Store
from tests.helpers.sealing import sealed
from tests.helpers.training import logged_run
from train.data.order import PADDING_ROW, is_held_out, windows
from train.data.reader import Reader, ahead, map_ahead
from train.data.tokens import cache_tokens
from train.loading import make_recipe
from train.machine.distributed import join
from train.prepare import Run, open_columns
from train.run import train


def read(tiny_store, stages, epoch=0, first=0, **settings):
    reader = Reader(Store.open(tiny_store), stages, **({"batch": 16, "seed": 7, "window": 2} | settings))
    return list(reader.epoch(epoch, first))


def test_rows_come_in_the_order_of_the_pure_function_zipped_by_row_id(tiny_store, stages):
    store = Store.open(tiny_store)
    corpus, una = (store.read(draws[0])["ids"].to_pylist() for draws in stages.values())
    batches = read(tiny_store, stages)
    reader = Reader(store, stages, batch=16, seed=7, window=2)
    expected = np.concatenate([window.row_ids for window in windows(reader.groups, 7, 0, 2)])
    rows = np.concatenate([batch.row_ids for batch in batches])
    np.testing.assert_array_equal(rows[: len(expected)], expected)
    assert (rows[len(expected) :] == PADDING_ROW).all()
    assert len(rows) == 160
    for batch in batches:
        for place, row in enumerate(batch.row_ids):
            for name, texts in (("corpus", corpus), ("una", una)):
                actual = batch.columns[name][place]
                wanted = None if row == PADDING_ROW else texts[row]
                assert (None if actual is None else actual.tolist()) == wanted


@pytest.mark.parametrize(
    ("ranks", "workers", "batch", "window"), list(itertools.product([1, 2, 3], [0, 1, 2], [7, 64], [1, 16]))
)
def test_ranks_and_workers_only_slice(tiny_store, stages, ranks, workers, batch, window):
    whole = read(tiny_store, stages, batch=batch, window=window, workers=0)
    parts = [
        read(tiny_store, stages, batch=batch, window=window, workers=workers, rank=rank, ranks=ranks)
        for rank in range(ranks)
    ]
    for step, expected in enumerate(whole):
        joined = np.concatenate([part[step].row_ids for part in parts])
        np.testing.assert_array_equal(joined, expected.row_ids)
    assert all(len(part) == len(whole) for part in parts)


@pytest.mark.parametrize("first", [1, 5, 9])
def test_starting_in_the_middle_gives_the_same_batches(tiny_store, stages, first):
    for batch, expected in zip(
        read(tiny_store, stages, first=first), read(tiny_store, stages)[first:], strict=True
    ):
        assert batch.step == expected.step
        np.testing.assert_array_equal(batch.row_ids, expected.row_ids)


def test_epochs_take_draws_in_turn(tiny_store, stages, tokenizer):
    for epoch, word in ((0, "zebra"), (1, "quartz"), (2, "zebra")):
        expected = tokenizer(word, add_special_tokens=False)["input_ids"]
        actual = [
            ids
            for batch in read(tiny_store, stages, epoch=epoch)
            for ids in batch.columns["una"]
            if ids is not None
        ]
        assert actual
        assert all(ids[: len(expected)].tolist() == expected for ids in actual)


def test_batches_of_like_length_hold_the_same_rows_and_less_padding(tiny_store, stages):
    mixed, sorted_ = (read(tiny_store, stages, length_homogeneous=flag, window=16) for flag in (False, True))

    def spread(batches):
        lengths = [[len(ids) for ids in batch.columns["corpus"] if ids is not None] for batch in batches]
        return sum(max(actual) - min(actual) for actual in lengths)

    assert spread(sorted_) < spread(mixed) / 3
    assert sorted(row for b in sorted_ for row in b.row_ids) == sorted(
        row for b in mixed for row in b.row_ids
    )


def test_every_window_makes_batches_of_like_length(tiny_store, stages):
    """Rows are left out, so that no window is a number of batches; only where two meet is one mixed."""
    settings = {"window": 2, "batch": 8, "held_out": 0.2}
    whole = read(tiny_store, stages, length_homogeneous=True, **settings)

    def spreads(batches):
        """Of the second window's batches: there are two windows, and held-out rows leave the first uneven."""
        lengths = [[len(ids) for ids in b.columns["corpus"] if ids is not None] for b in batches[9:]]
        return np.median([max(actual) - min(actual) for actual in lengths])

    assert spreads(whole) < spreads(read(tiny_store, stages, **settings)) / 2
    for first in (3, 8, 12):
        rest = read(tiny_store, stages, first=first, length_homogeneous=True, **settings)
        for batch, expected in zip(rest, whole[first:], strict=True):
            np.testing.assert_array_equal(batch.row_ids, expected.row_ids)


def test_only_the_windows_at_hand_are_read(tiny_store, stages, monkeypatch):
    reader = Reader(Store.open(tiny_store), stages, batch=16, seed=7, window=1, workers=0)
    read_windows = []
    original = reader._read

    def read(window, epoch):
        read_windows.append(window)
        return original(window, epoch)

    monkeypatch.setattr(reader, "_read", read)
    batches = reader.epoch(0)
    next(batches)
    assert len(read_windows) == 1
    assert len(list(batches)) == 9
    assert len(read_windows) == 4


@pytest.mark.parametrize("name", ["corpus", "una"])
def test_a_flipped_bit_is_noticed(store_copy, tokenizer, name):
    store = Store.open(store_copy)
    stage = cache_tokens(store, name, tokenizer)
    path = store.part_path(stage, 2)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)
    reader = Reader(Store.open(store_copy), {name: [stage]}, batch=16, seed=1)
    with pytest.raises(BadInputError, match="part-00002"):
        list(reader.epoch(0))


@pytest.mark.parametrize(
    ("odd", "words"), [(-5, "null or negative"), (None, "null or negative"), (10**6, "beyond the")]
)
def test_forged_ids_end_a_training_with_a_line(store_copy, tiny_encoder, tokenizer, tmp_path, odd, words):
    """Whatever their digest says, as `fetch` of a foreign store may bring them."""
    stage = cache_tokens(Store.open(store_copy), "corpus", tokenizer)
    path = Store.open(store_copy).part_path(stage, 0)
    table = pq.read_table(path)
    ids = table["ids"].to_pylist()
    ids[3][0] = odd
    column = pa.array(ids, table.schema.field("ids").type)
    pq.write_table(table.set_column(1, table.schema.field("ids"), column), path)
    manifest = json.loads((store_copy / "manifest.json").read_text())
    entry = manifest["stages"][stage]["parts"]["0"]
    entry |= {"bytes": path.stat().st_size, "sha256": sha256_of_file(path)}
    (store_copy / "manifest.json").write_text(json.dumps(sealed(manifest)))
    recipe = make_recipe({"batch": 16, "steps": 20, "evaluate_every": 0})
    with pytest.raises(BadInputError, match=f"part-00000.parquet: has ids .*{words}"):
        train(Run(recipe, store_copy, str(tiny_encoder), tmp_path / "run"), join())


def test_working_ahead_keeps_order_and_passes_errors_on():
    assert list(map_ahead(lambda x: x * x, range(50), workers=3)) == [x * x for x in range(50)]
    assert list(ahead(iter(range(20)), depth=3)) == list(range(20))
    assert list(ahead(iter([]), depth=3)) == []

    def failing():
        yield 1
        raise ValueError("in the thread")

    results = ahead(failing(), depth=2)
    assert next(results) == 1
    with pytest.raises(ValueError, match="in the thread"):
        next(results)


def test_only_changed_rows_are_trained_on(tiny_store, tiny_encoder, tmp_path):
    store = Store.open(tiny_store)
    keep = usable_rows(store, "aa") & usable_rows(store, "pi")
    np.testing.assert_array_equal(keep, [bool(row % 2) and bool(row % 5) for row in range(150)])
    tokenizer = load_encoder(tiny_encoder).tokenizer
    opened, stages = open_columns(
        tiny_store, SimpleNamespace(columns=("corpus", "aa"), once=()), tokenizer, join(), {}
    )
    reader = Reader(opened, stages, batch=16, seed=1, window=3, held_out=0.2, keep=keep)
    seen = np.concatenate([batch.row_ids for batch in reader.epoch(0)])
    expected = np.flatnonzero(keep & ~is_held_out(np.arange(150), 0.2))
    assert sorted(seen[seen >= 0]) == expected.tolist()
    outcome, _ = logged_run(
        tiny_store, tiny_encoder, tmp_path, {"positives": ("aa",), "only_changed": ("aa", "pi")}
    )
    assert outcome.steps == -(-int(keep.sum()) // 16)
