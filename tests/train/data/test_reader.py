"""The token-id cache and the reader: the right texts in the right order, damage noticed, memory bounded."""

import itertools

import numpy as np
import pytest
from transformers import AutoTokenizer

from augment_cli.errors import BadInputError, UsageError
from augment_cli.store.store import Store
from train.data.order import PADDING_ROW, windows
from train.data.padding import length_sorted_slices, with_special
from train.data.reader import Reader, ahead, map_ahead
from train.data.tokens import cache_tokens, special_ids, stage_draws


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return AutoTokenizer.from_pretrained(tiny_encoder)


@pytest.fixture(scope="module")
def stages(tiny_store, tokenizer):
    store = Store.open(tiny_store)
    return {
        name: [cache_tokens(store, draw, tokenizer) for draw in stage_draws(store, name)]
        for name in ("corpus", "una")
    }


def read(tiny_store, stages, epoch=0, first=0, **settings):
    reader = Reader(Store.open(tiny_store), stages, **({"batch": 16, "seed": 7, "window": 2} | settings))
    return list(reader.epoch(epoch, first))


def test_token_ids_are_the_tokenizers(tiny_store, stages, tokenizer):
    store = Store.open(tiny_store)
    texts, ids = (store.read(stage) for stage in ("una", stages["una"][0]))
    assert ids["row_id"].to_pylist() == texts["row_id"].to_pylist()
    for text, row in zip(texts["text"].to_pylist(), ids["ids"].to_pylist(), strict=True):
        assert row == (None if text is None else tokenizer(text, add_special_tokens=False)["input_ids"])


def test_cached_once_and_again_when_the_tokenizer_changes(store_copy, tokenizer, tiny_encoder):
    store = Store.open(store_copy)
    name = cache_tokens(store, "corpus", tokenizer)
    before = store.part_path(name, 0).stat().st_mtime_ns
    assert cache_tokens(Store.open(store_copy), "corpus", tokenizer) == name
    assert store.part_path(name, 0).stat().st_mtime_ns == before
    other = AutoTokenizer.from_pretrained(tiny_encoder)
    other.add_tokens(["zebra"])
    assert cache_tokens(Store.open(store_copy), "corpus", other) != name


def test_ids_of_texts_made_anew_are_made_anew(store_copy, tokenizer, replace_stage):
    name = cache_tokens(Store.open(store_copy), "aa", tokenizer)
    replace_stage(store_copy, "aa", lambda row, text: "other words")
    store = Store.open(store_copy)
    assert cache_tokens(store, "aa", tokenizer) == name
    expected = tokenizer("other words", add_special_tokens=False)["input_ids"]
    assert store.read(name)["ids"].to_pylist() == [expected] * store.rows


def test_truncation_and_special_tokens_are_the_tokenizers(tokenizer):
    before, after = special_ids(tokenizer)
    text = "One two three four five six seven eight nine ten eleven twelve."
    bare = np.array(tokenizer(text, add_special_tokens=False)["input_ids"])
    for length in range(2, 40):
        expected = tokenizer(text, truncation=True, max_length=length)["input_ids"]
        assert with_special(bare, before, after, length).tolist() == expected


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
                found = batch.columns[name][place]
                wanted = None if row == PADDING_ROW else texts[row]
                assert (None if found is None else found.tolist()) == wanted


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
        np.testing.assert_array_equal(parts[0][step].global_row_ids, expected.row_ids)
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
        found = [
            ids
            for batch in read(tiny_store, stages, epoch=epoch)
            for ids in batch.columns["una"]
            if ids is not None
        ]
        assert found
        assert all(ids[: len(expected)].tolist() == expected for ids in found)


def test_batches_of_like_length_hold_the_same_rows_and_less_padding(tiny_store, stages):
    mixed, sorted_ = (read(tiny_store, stages, length_homogeneous=flag, window=16) for flag in (False, True))

    def spread(batches):
        lengths = [[len(ids) for ids in batch.columns["corpus"] if ids is not None] for batch in batches]
        return sum(max(found) - min(found) for found in lengths)

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
        return np.median([max(found) - min(found) for found in lengths])

    assert spreads(whole) < spreads(read(tiny_store, stages, **settings)) / 2
    for first in (3, 8, 12):
        rest = read(tiny_store, stages, first=first, length_homogeneous=True, **settings)
        for batch, expected in zip(rest, whole[first:], strict=True):
            np.testing.assert_array_equal(batch.row_ids, expected.row_ids)


def test_only_the_windows_at_hand_are_read(tiny_store, stages, monkeypatch):
    reader = Reader(Store.open(tiny_store), stages, batch=16, seed=7, window=1, workers=0)
    read_windows = []
    original = reader._read
    monkeypatch.setattr(
        reader, "_read", lambda window, epoch: read_windows.append(window) or original(window, epoch)
    )
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
    ("name", "command"),
    [("paraphrase", "paraphrase --store"), ("casual", "AUGMENTATION --name casual --store")],
)
def test_a_missing_stage_is_named_with_the_command(tiny_store, name, command):
    with pytest.raises(UsageError, match=f"augment-cli {command}"):
        stage_draws(Store.open(tiny_store), name)


def test_slices_keep_every_token_in_its_place():
    rng = np.random.default_rng(0)
    texts = [rng.integers(5, 100, size=n) for n in rng.integers(1, 33, size=37)]
    for count in (1, 2, 4, 37, 100):
        slices = length_sorted_slices(texts, count, pad=0)
        places = np.concatenate([item.places.numpy() for item in slices])
        assert sorted(places) == list(range(37))
        for item in slices:
            for row, place in enumerate(item.places.tolist()):
                assert item.ids[row][item.mask[row].bool()].tolist() == texts[place].tolist()
        widths = [item.ids.shape[1] for item in slices]
        assert widths == sorted(widths, reverse=True)


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
