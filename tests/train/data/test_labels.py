"""Labels and conditions in training: stages that are refused, rows that count as unchanged."""

import re

import numpy as np
import pyarrow as pa
import pytest

from augment_cli import api
from augment_cli.augmentations.labels import needed_labels, usable_rows
from augment_cli.contract.augmentation import LABEL_COLUMN
from augment_cli.errors import MixError, UsageError
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from tests.helpers.training import QUICK, quick_run
from train.data.reader import Reader, stored_texts
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.outputs.checkpoint import checkpoints, read_state
from train.prepare import NoRowsError, Run, open_columns, plan, prepare_model, prepare_rows


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
    """The tiny store with scores of `una` and of its second draw."""
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
    run, ranks = Run(make_recipe(QUICK | values), labelled.path, str(tiny_encoder), tmp_path), join()
    usable = prepare_rows(run, Store.open(labelled.path), ("corpus", "negation")).usable["negation"]
    expected = (ratios(labelled.path, "negation") < 0.02) & (np.arange(150) % 3 > 0)
    np.testing.assert_array_equal(usable, expected)
    assert 5 < expected.sum() < 95
    assert f"usable        negation: {expected.sum()} texts" in plan(run, ranks).splitlines()


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
        (
            "length_ratio < 1",
            "--set where=length_ratio < 1: where = 'length_ratio < 1': begin with the stage",
        ),
        (
            "una:length_ratio",
            "--set where=una:length_ratio: where = ' ?length_ratio' ?: .* is not COLUMN OPERATOR",
        ),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused_with_the_recipe(where, words):
    with pytest.raises(UsageError, match=words):
        load_recipe("simcse", [f"where={where}"])


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("aa:length_ratio < 1", "where: 'aa' is not read; it may name una"),
        ("corpus:length_ratio < 1", "where: 'corpus' is not read; it may name una"),
        ("una:beauty < 1", "'una' has no column 'beauty' for a condition; it has length_ratio"),
    ],
)
def test_a_condition_on_something_else_is_refused(scored, tiny_encoder, tmp_path, where, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        quick_run(scored, tiny_encoder, tmp_path / "run", negatives=["una"], where=[where])
