"""Which texts a step encodes, on the tiny store."""

import math

import numpy as np
import pytest
import torch

import train.objectives.views as views_module
from augment_cli.encoding.loading import load_encoder
from tests.helpers.training import QUICK
from train.additions.base import Views
from train.data.reader import Reader
from train.data.texts import NO_TEXT
from train.loading import make_recipe
from train.machine.distributed import join
from train.objectives.contrastive import ContrastiveObjective
from train.prepare import open_columns


def grids(store, encoder, steps=1, **values):
    """Text grids of the first steps, with the texts of the store by their own ids."""
    recipe = make_recipe(QUICK | values)
    loaded = load_encoder(encoder)
    objective = ContrastiveObjective(recipe, loaded.tokenizer, join())
    opened, stages = open_columns(store, objective, loaded.tokenizer, join(), {})
    reader = Reader(opened, stages, batch=recipe.batch, seed=recipe.seed)
    batches = list(reader.epoch(0))[:steps]
    return batches, [objective.prepare(batch, step) for step, batch in enumerate(batches)]


def test_una_adds_its_negatives_and_their_copies_every_alpha_steps(tiny_store, tiny_encoder):
    values = {"loss": "nt-xent", "negatives": ("una",), "alpha": 3}
    _, prepared = grids(tiny_store, tiny_encoder, 7, **values)
    assert [item.texts.shape[1] for item in prepared] == [4, 2, 2, 4, 2, 2, 4]
    first = prepared[0].texts
    assert (first[:, 0] == first[:, 1]).all()
    assert (first[:, 2] == first[:, 3]).all()
    assert (first[:, 2] != first[:, 0]).all()


def test_columns_encode_a_negative_once(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, negatives=("una", "aa"))
    texts = prepared[0].texts
    assert texts.shape == (16, 4)
    missing = texts[:, 2] == NO_TEXT
    np.testing.assert_array_equal(missing.numpy(), batches[0].row_ids % 3 == 0)  # where una is unchanged
    encoded = sum(len(item.places) for item in prepared[0].slices)
    assert encoded == int((texts != NO_TEXT).sum())  # what is not there costs nothing


def test_an_unchanged_positive_is_the_anchor_and_proportion_thins_out(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("aa",))
    for batch, item in zip(batches, prepared, strict=True):
        same = (item.texts[:, 0] == item.texts[:, 1]).numpy()
        np.testing.assert_array_equal(same, batch.row_ids % 2 == 0)
    _, none = grids(tiny_store, tiny_encoder, 9, positives=("aa",), proportion=0.0)
    assert all((item.texts[:, 0] == item.texts[:, 1]).all() for item in none)
    _, half = grids(tiny_store, tiny_encoder, 9, positives=("aa",), proportion=0.5)
    changed = sum(int((item.texts[:, 0] != item.texts[:, 1]).sum()) for item in half)
    everything = sum(int((item.texts[:, 0] != item.texts[:, 1]).sum()) for item in prepared)
    assert 0.25 < changed / everything < 0.75


def test_a_mix_draws_each_positive_about_equally(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("una", "pi", "self"))
    cells = {name: [ids for b in batches for ids in b.columns[name]] for name in ("una", "pi", "corpus")}
    ids = torch.cat([item.texts for item in prepared])
    same = int((ids[:, 0] == ids[:, 1]).sum())
    fallback = sum(u is None for u in cells["una"]) / 3 + sum(p is None for p in cells["pi"]) / 3
    expected = len(ids) / 3 + fallback
    assert abs(same - expected) < 4 * math.sqrt(len(ids) / 4)


def test_equal_texts_get_equal_ids_and_no_loss_between_them(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 10)
    ids = torch.cat([item.texts[:, 0] for item in prepared])
    rows = np.concatenate([batch.row_ids for batch in batches])
    by_row = dict(zip(rows.tolist(), ids.tolist(), strict=True))
    assert by_row[3] == by_row[149]  # the store's one repeated text
    assert by_row[3] != by_row[4]


class Nothing(Views):
    """An addition's choice that leaves all as it is, but makes every row be chosen by itself."""

    def choose(self, row):
        return row.views, []


@pytest.mark.parametrize(
    "values",
    [
        {"positives": ("aa", "self", "pi"), "proportion": 0.7},
        {"positives": ("pi",), "negatives": ("una", "aa"), "alpha": 2},
        {"loss": "nt-xent", "negatives": ("una",), "max_length": 5},
    ],
)
def test_a_batch_arranged_at_once_is_the_one_arranged_row_by_row(
    tiny_store, tiny_encoder, values, monkeypatch
):
    _, at_once = grids(tiny_store, tiny_encoder, 10, **values)  # the last batch has padding
    monkeypatch.setattr(views_module, "make_views", lambda recipe: [Nothing()])
    _, by_row = grids(tiny_store, tiny_encoder, 10, **values)
    for one, other in zip(at_once, by_row, strict=True):
        assert torch.equal(one.texts, other.texts) and one.labels.shape == other.labels.shape
        for mine, its in zip(one.slices, other.slices, strict=True):
            assert all(
                torch.equal(getattr(mine, key), getattr(its, key)) for key in ("places", "ids", "mask")
            )


@pytest.mark.parametrize("more", [{}, {"negatives": ("una",), "alpha": 2}])
@pytest.mark.parametrize("by_length", [False, True])
def test_texts_finished_by_the_reader_are_those_finished_in_each_batch(
    tiny_store, tiny_encoder, more, by_length
):
    recipe = make_recipe(QUICK | {"positives": ("aa", "pi"), "max_length": 9} | more)
    tokenizer = load_encoder(tiny_encoder).tokenizer
    objective = ContrastiveObjective(recipe, tokenizer, join(), bags=True)
    store, stages = open_columns(tiny_store, objective, tokenizer, join(), {})
    settings = {"batch": recipe.batch, "seed": 5, "window": 2, "length_homogeneous": by_length}
    sides = [
        list(Reader(store, stages, finish=finish, **settings).epoch(0)) for finish in (None, objective.finish)
    ]
    assert sides[0][0].columns["corpus"].numbers is None and sides[1][0].columns["corpus"].numbers is not None
    for step, pair in enumerate(zip(*sides, strict=True)):
        late, early = (objective.prepare(batch, step) for batch in pair)
        assert torch.equal(late.texts, early.texts)
        for one, other in zip(late.slices, early.slices, strict=True):
            for field in ("places", "ids", "lengths"):
                assert torch.equal(getattr(one, field), getattr(other, field))
