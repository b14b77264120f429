"""Streaming of rows, labels and conditions, texts as arrays, the token-id cache, slices and padding."""

import itertools
import json
import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

import augment_cli
from augment_cli import api
from augment_cli.augmentations.labels import needed_labels, usable_rows
from augment_cli.contract.augmentation import LABEL_COLUMN
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from tests.helpers.made_stores import add_texts
from tests.helpers.training import QUICK, quick_run
from tests.helpers.undisturbed import sealed
from train.data import NO_TEXT, Texts, text_ids
from train.data.order import PADDING_ROW, windows
from train.data.padding import Piece, in_a_bag, length_sorted_slices, with_special
from train.data.reader import Reader, ahead, map_ahead, stored_texts
from train.data.tokens import cache_tokens, special_ids, stage_draws
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.outputs.checkpoint import checkpoints, read_state
from train.prepare import NoRowsError, Run, open_columns, plan, prepare_model, prepare_rows
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
    for batch in batches:
        for place, row in enumerate(batch.row_ids):
            for name, texts in (("corpus", corpus), ("una", una)):
                actual = batch.columns[name][place]
                wanted = None if row == PADDING_ROW else texts[row]
                assert (None if actual is None else actual.tolist()) == wanted


def test_batches_of_like_length_hold_the_same_rows_and_less_padding(tiny_store, stages):
    """Rows are left out, so that no window is a number of batches; only where two meet is one mixed."""
    settings = {"window": 2, "batch": 8, "held_out": 0.2}
    mixed, whole = (read(tiny_store, stages, length_homogeneous=flag, **settings) for flag in (False, True))

    def spreads(batches):
        """Of the second window's batches: there are two windows, and held-out rows leave the first uneven."""
        lengths = [[len(ids) for ids in b.columns["corpus"] if ids is not None] for b in batches[9:]]
        return np.median([max(actual) - min(actual) for actual in lengths])

    assert spreads(whole) < spreads(mixed) / 2
    rows = [sorted(row for batch in side for row in batch.row_ids) for side in (mixed, whole)]
    assert rows[0] == rows[1]
    for first in (3, 8, 12):
        rest = read(tiny_store, stages, first=first, length_homogeneous=True, **settings)
        for batch, expected in zip(rest, whole[first:], strict=True):
            np.testing.assert_array_equal(batch.row_ids, expected.row_ids)


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


@pytest.fixture
def labelled(store_copy):
    """The tiny store with `negation`, every third row of which asks, and a `hypernym`."""
    store = Store.open(store_copy)
    fields = AUGMENTATION.append(LABEL_COLUMN)
    with store.lock():
        for name in ("negation", "hypernym"):
            settings = Settings(stage=name, version=1)
            for part in store.begin(name, settings):
                ids = store.read_part("corpus", part, ["row_id"])["row_id"].to_pylist()
                labels = ["other" if row % 3 else "neither" for row in ids]
                columns = [ids, ["x"] * len(ids), [None] * len(ids), [[]] * len(ids), labels]
                arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
                store.commit(store.write_part(name, part, fields, [pa.table(arrays, fields)], settings))
    return store


def test_stages_with_another_label_are_refused(labelled):
    wanted = {"positive": ("self", "aa"), "negative": ("una", "negation")}
    assert needed_labels(labelled, wanted) == {"negation": "other"}
    with pytest.raises(UsageError, match=r"negatives: hypernym: its label is 'neither' .*labels = \"kind\""):
        needed_labels(labelled, {"negative": ("hypernym",)})
    with pytest.raises(UsageError, match="positives: una: its label is 'other'"):
        needed_labels(labelled, {"positive": ("una",)})


def test_rows_with_another_label_count_as_unchanged(labelled):
    usable = usable_rows(labelled, "negation", "other")
    np.testing.assert_array_equal(usable, [row % 3 != 0 for row in range(150)])
    assert usable_rows(labelled, "una", "other").tolist() == usable_rows(labelled, "una").tolist()
    table = pa.table({"ids": pa.array([[row, 7] for row in range(40)], pa.list_(pa.int32()))})
    texts = stored_texts(table, usable[:40])
    assert [ids is not None for ids in texts] == usable[:40].tolist()
    assert [ids.tolist() for ids in texts if ids is not None] == [[n, 7] for n in range(40) if n % 3]


@pytest.fixture
def scored(store_copy):
    for stage in ("una", "una.1"):
        api.score(store_copy, stage, columns=["length_ratio"])
    return store_copy


LIMIT = 1.12  # some of the texts of both draws are below it
WHERE = {"negatives": ["una"], "where": [f"una:length_ratio < {LIMIT}"]}


def ratios(path, stage):
    """The scores that the store has, NaN where there is no text."""
    store = Store.open(path)
    parts = [store.read_part(f"scores-{stage}", part)["length_ratio"] for part in range(len(store.parts))]
    return np.concatenate([part.to_numpy().astype(float) for part in parts])


def batches(path, encoder, out, values, epoch):
    """Ids of the rows, and whether they have a text of `una`, of a whole epoch."""
    run, ranks = Run(make_recipe(QUICK | values), path, str(encoder), out), join()
    trainee = prepare_model(run, ranks)
    store, stages = open_columns(path, trainee.objective, trainee.encoder.tokenizer, ranks, trainee.prompts)
    rows = prepare_rows(run, store, trainee.objective.columns)
    reader = Reader(store, stages, batch=16, seed=1, keep=rows.keep, usable=rows.usable)
    seen = list(reader.epoch(epoch))
    ids = np.concatenate([batch.row_ids for batch in seen])
    has_text = np.concatenate([batch.columns["una"].present for batch in seen])
    return ids[ids >= 0], has_text[ids >= 0]


@pytest.mark.parametrize(("epoch", "draw"), [(0, "una"), (1, "una.1")])
def test_texts_that_do_not_meet_the_condition_count_as_unchanged(scored, tiny_encoder, tmp_path, epoch, draw):
    meets = ratios(scored, draw) < LIMIT  # NaN meets nothing
    assert 20 < meets.sum() < usable_rows(Store.open(scored), draw).sum() - 20
    ids, has_text = batches(scored, tiny_encoder, tmp_path, WHERE, epoch)
    assert len(ids) == 150
    np.testing.assert_array_equal(has_text, meets[ids])


def test_with_only_changed_their_rows_are_not_trained_on(scored, tiny_encoder, tmp_path):
    ids, has_text = batches(scored, tiny_encoder, tmp_path, WHERE | {"only_changed": ["una"]}, 0)
    both = (ratios(scored, "una") < LIMIT) & (ratios(scored, "una.1") < LIMIT)
    assert sorted(ids) == np.flatnonzero(both).tolist() and has_text.all()
    none = {"where": ["una:length_ratio > 90"], "only_changed": ["una"], "negatives": ["una"]}
    with pytest.raises(NoRowsError, match="or where, or"):
        batches(scored, tiny_encoder, tmp_path, none, 0)


def test_a_condition_goes_with_labels(labelled, tiny_encoder, tmp_path):
    api.score(labelled.path, "negation", columns=["length_ratio"])
    values = {"negatives": ["negation"], "where": ["negation:length_ratio < 0.02"]}
    run = Run(make_recipe(QUICK | values), labelled.path, str(tiny_encoder), tmp_path)
    usable = prepare_rows(run, Store.open(labelled.path), ("corpus", "negation")).usable["negation"]
    expected = (ratios(labelled.path, "negation") < 0.02) & (np.arange(150) % 3 > 0)
    np.testing.assert_array_equal(usable, expected)
    assert 5 < expected.sum() < 95
    assert f"usable        negation: {expected.sum()} texts" in plan(run, join()).splitlines()


def test_scores_that_were_read_are_part_of_what_a_run_is(scored, tiny_encoder, tmp_path):
    values = WHERE | {"steps": 2, "checkpoint_every": 2}
    quick_run(scored, tiny_encoder, tmp_path / "run", **values)
    settings = read_state(checkpoints(tmp_path / "run" / "checkpoints")[-1])["settings"]
    assert settings["where"] == WHERE["where"]
    assert {"scores-una", "scores-una.1"} <= settings["data"].keys()
    api.score(scored, "una", columns=["length_ratio", "edited_share"], overwrite=True)
    with pytest.raises(MixError, match="scores-una"):
        quick_run(scored, tiny_encoder, tmp_path / "run", **values | {"steps": 3})


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("length_ratio < 1", "where = 'length_ratio < 1': begin with the stage"),
        ("una:length_ratio", "where = ' ?length_ratio' ?: .* is not COLUMN OPERATOR"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused_with_the_recipe(where, words):
    with pytest.raises(UsageError, match=f"--set where={where}: {words}"):
        load_recipe("simcse", [f"where={where}"])


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("aa:length_ratio < 1", "where: 'aa' is not read; it may name una"),
        ("una:beauty < 1", "'una' has no column 'beauty' for a condition; it has length_ratio"),
    ],
)
def test_a_condition_on_something_else_is_refused(scored, tiny_encoder, tmp_path, where, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        quick_run(scored, tiny_encoder, tmp_path / "run", negatives=["una"], where=[where])


def test_token_ids_are_the_tokenizers(store_copy, tokenizer, tiny_encoder):
    store = Store.open(store_copy)
    table = store.read("una")
    texts = table["text"].to_pylist()
    pair = " ".join(next(text for text in texts if text).split()[:2])
    joining = AutoTokenizer.from_pretrained(tiny_encoder)
    joining.add_tokens([pair])  # one that joins words
    for tokens in (tokenizer, joining):
        cached = store.read(cache_tokens(store, "una", tokens))
        assert cached["row_id"].to_pylist() == table["row_id"].to_pylist()
        assert cached["ids"].to_pylist() == [
            None if text is None else tokens(text, add_special_tokens=False)["input_ids"] for text in texts
        ]
    assert any(joining.convert_tokens_to_ids(pair) in (row or []) for row in cached["ids"].to_pylist())


def test_a_stage_that_only_has_the_name_of_a_draw_is_none(store_copy):
    """`word-deletion --name una.1` would be trained on as UNA's negatives."""
    store, settings = Store.open(store_copy), Settings("word-deletion", 1, {"draw": 0})
    assert stage_draws(store, "una") == ["una", "una.1"]
    with store.lock():
        rows = {part: store.read_part("una.1", part) for part in store.stage("una.1").parts}
        store.remove("una.1")
        for part in store.begin("una.1", settings):
            store.commit(store.write_part("una.1", part, AUGMENTATION, [rows[part]], settings))
    assert stage_draws(store, "una") == ["una"]
    with pytest.raises(UsageError, match="is the number of a further draw"):
        augment_cli.run("word-deletion", store_copy, stage="una.1", jobs=1)


def test_files_appended_to_the_corpus_are_cached_as_further_parts(store_copy, tokenizer, tmp_path):
    store = Store.open(store_copy)
    name = cache_tokens(store, "corpus", tokenizer)
    before = [store.part_path(name, index).read_bytes() for index in range(len(store.parts))]
    (tmp_path / "more.txt").write_text("the heron waits near the bridge\n")
    with Session(store_copy, Engine(1)) as session:
        session.append([tmp_path / "more.txt"])
    store = Store.open(store_copy)
    with pytest.raises(UsageError, match="no finished stage 'una'"):
        stage_draws(store, "una")
    assert cache_tokens(store, "corpus", tokenizer) == name
    assert [store.part_path(name, index).read_bytes() for index in range(len(before))] == before
    assert store.read(name)["row_id"].to_pylist() == list(range(store.rows))


def test_cached_once_and_again_when_the_tokenizer_or_the_texts_change(store_copy, tokenizer, tiny_encoder):
    def cached(tokens):
        return cache_tokens(Store.open(store_copy), "aa", tokens)

    name, store = cached(tokenizer), Store.open(store_copy)
    before = store.part_path(name, 0).stat().st_mtime_ns
    assert cached(tokenizer) == name
    assert store.part_path(name, 0).stat().st_mtime_ns == before
    other = AutoTokenizer.from_pretrained(tiny_encoder)
    other.add_tokens(["zebra"])
    assert cached(other) != name
    with store.lock():
        store.remove("aa")
        add_texts(store, "aa", lambda row, text: "other words")
    assert cached(tokenizer) == name
    expected = tokenizer("other words", add_special_tokens=False)["input_ids"]
    assert Store.open(store_copy).read(name)["ids"].to_pylist() == [expected] * store.rows


@pytest.mark.parametrize(
    ("name", "command"),
    [("paraphrase", "paraphrase --store"), ("casual", "AUGMENTATION --name casual --store")],
)
def test_a_missing_stage_is_named_with_the_command(tiny_store, name, command):
    with pytest.raises(UsageError, match=f"augment-cli {command}"):
        stage_draws(Store.open(tiny_store), name)


text = st.none() | st.lists(st.integers(0, 3), max_size=4)
lists = st.lists(text, max_size=6)


def texts_of(rows):
    return Texts.of([None if row is None else np.array(row, dtype=np.int64) for row in rows])


def as_lists(texts):
    return [None if ids is None else ids.tolist() for ids in texts]


@given(lists, lists, st.data())
def test_texts_are_those_of_a_list(first, second, data):
    assert as_lists(texts_of(first)) == first
    both = Texts.joined([texts_of(first), Texts.missing(2), texts_of(second)])
    rows = [*first, None, None, *second]
    assert as_lists(both) == rows
    assert as_lists(both.or_empty()) == [row or [] for row in rows]
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    assert as_lists(both.take(np.array(places, dtype=np.int64))) == [rows[place] for place in places]
    assert as_lists(both[1:]) == rows[1:]


@given(lists)
def test_equal_numbers_are_equal_texts(rows):
    """Small tokens, so that sums, products or orders of them would collide."""
    numbers = text_ids(texts_of(rows)).tolist()
    for row, number in zip(rows, numbers, strict=True):
        assert (number == NO_TEXT) == (row is None)
        assert number >= NO_TEXT
        assert [other == number for other in numbers] == [other == row for other in rows]


def test_no_other_cut_costs_less():
    rng = np.random.default_rng(7)
    for _ in range(60):
        texts = [np.ones(n, dtype=np.int64) for n in rng.integers(1, 6, size=rng.integers(1, 9))]
        lengths, count = sorted(map(len, texts), reverse=True), int(rng.integers(1, 5))
        actual = length_sorted_slices(texts, count, pad=0)
        assert 1 <= len(actual) <= count
        least = min(
            sum(len(group) * max(group) for group in np.split(lengths, list(cuts)))
            for parts in range(min(count, len(texts)))
            for cuts in itertools.combinations(range(1, len(texts)), parts)
        )
        assert sum(item.ids.numel() for item in actual) == least


def test_truncation_and_special_tokens_are_the_tokenizers(tokenizer):
    before, after = special_ids(tokenizer)
    text = "One two three four five six seven eight nine ten eleven twelve."
    bare = np.array(tokenizer(text, add_special_tokens=False)["input_ids"])
    for length in range(2, 40):
        expected = tokenizer(text, truncation=True, max_length=length)["input_ids"]
        one, none, other = with_special([bare, None, bare[:1]], before, after, length)
        assert one.tolist() == expected and none is None
        assert other.tolist() == [*before, *bare[: max(0, length - 2)][:1], *after]


def test_a_bag_holds_what_slices_hold():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 9, size=40)
    texts = [rng.integers(5, 100, size=n) if rng.random() < 0.8 else None for n in lengths]
    (bag,) = in_a_bag(texts)
    for views in (1, 2, 5):  # of which the first is the anchor
        expected = {
            place // views: ids.tolist()
            for place, ids in enumerate(texts)
            if ids is not None and (views == 1 or place % views == 0)
        }
        pieces: list[Piece] = [bag, *length_sorted_slices(texts, 3, pad=0)]
        held = []
        for piece in pieces if views == 1 else [piece.anchors(views) for piece in pieces]:
            flat = piece.bagged()
            parts = [part.tolist() for part in flat.ids.split(flat.lengths.tolist())]
            held.append(dict(zip(flat.places.tolist(), parts, strict=True)))
        assert held[0] == expected == held[1] | held[2] | held[3]
    assert in_a_bag([None, None]) == []


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


def test_trainings_that_start_side_by_side_wait_for_each_others_token_ids(store_copy, tiny_encoder):
    names = []
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.add_tokens(["yak"])  # no ids of this tokenizer are in the store yet

    def cache():
        names.append(cache_tokens(Store.open(store_copy), "una", tokenizer))

    trainings = [threading.Thread(target=cache) for _ in range(2)]
    with Store.open(store_copy).lock():
        for thread in trainings:
            thread.start()
        trainings[0].join(timeout=0.5)
        assert not names  # both wait for the writer that is there
    for thread in trainings:
        thread.join()
    assert len(set(names)) == 1 and len(names) == 2
    assert Store.open(store_copy).has(names[0])
