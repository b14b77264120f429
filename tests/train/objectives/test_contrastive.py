"""The contrastive loss of a batch: which texts a step encodes, who meets whom."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

import train.objectives.views as views_module
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import (
    QUICK,
    TAU,
    check_gradients,
    cos,
    draw,
    numeric_gradient,
    reference_info_nce,
    reference_symmetric,
)
from train.additions.base import Views
from train.data import NO_SENTENCE, NO_TEXT
from train.data.reader import Reader
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.objectives.contrastive import ContrastiveObjective, contrast, excluded_pairs, shorter
from train.prepare import open_columns


@pytest.mark.parametrize("loss", ["info-nce", "symmetric", "nt-xent"])
def test_the_augmented_positive_of_an_equal_sentence_is_no_negative(loss):
    """Rows 0 and 2 hold one sentence, each with a positive of its own; all that is equal drops out."""
    z = draw(4, 2, 6)
    texts = torch.tensor([[1, 10], [2, 20], [1, 30], [3, 40]])
    actual = float(contrast(make_recipe({"loss": loss}), torch.from_numpy(z), texts, []))
    views = [(row, side) for row in range(4) for side in (0, 1)]
    every = []
    for row, side in views:
        wrong = {"info-nce": [1], "symmetric": [1 - side], "nt-xent": [0, 1]}[loss]
        if loss == "info-nce" and side:
            continue
        # Of the sentence's equal, 2 and 0, nothing is met but what is its own.
        met = [(r, s) for r, s in views if s in wrong and r != row and {r, row} != {0, 2}]
        right = math.exp(cos(z[row, side], z[row, 1 - side]) / TAU)
        every.append(-math.log(right / (right + sum(math.exp(cos(z[row, side], z[m]) / TAU) for m in met))))
    assert actual == pytest.approx(np.mean(every), rel=1e-10)
    everyone = make_recipe({"loss": loss, "mask_equal_texts": False})
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > actual


def test_negative_scope_own_meets_only_the_row_s_own_negatives():
    z = draw(4, 4, 6)  # anchor, positive, two negatives
    texts = torch.arange(16).view(4, 4)
    recipe = make_recipe({"negatives": ["una", "dn"], "negative_scope": "own"})
    actual = contrast(recipe, torch.from_numpy(z), texts, [])
    others = ~np.eye(4, dtype=bool)
    excluded = np.hstack([np.zeros((4, 4), bool), others, others])
    candidates = z[:, 1:].transpose(1, 0, 2).reshape(12, 6)
    losses = reference_info_nce(z[:, 0], candidates, excluded, TAU, np.zeros((4, 12)))
    assert float(actual) == pytest.approx(losses.mean(), rel=1e-10)
    everyone = make_recipe({"negatives": ["una", "dn"]})
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > float(actual) + 1e-6


@pytest.mark.parametrize("loss", ["info-nce", "symmetric"])
def test_further_negatives_are_columns_of_every_anchor(loss):
    z, extra = draw(4, 2, 3), draw(6, 3, seed=1)
    texts = torch.arange(8).reshape(4, 2)
    ids = torch.tensor([100, 101, NO_TEXT, 0, NO_SENTENCE, NO_SENTENCE])  # 0 is the first anchor's own text
    recipe = make_recipe({"loss": loss, "temperature": 0.5})

    excluded = np.zeros((4, 10), bool)
    excluded[:, 4 + 2] = excluded[0, 4 + 3] = True
    slow = reference_symmetric if loss == "symmetric" else reference_info_nce

    def reference(z):
        return slow(z[:, 0], np.concatenate([z[:, 1], extra]), excluded, 0.5, np.zeros((4, 10))).mean()

    further = [(torch.tensor(extra[part]), ids[part]) for part in (slice(3), slice(3, 6))]
    check_gradients(lambda value: contrast(recipe, value, texts, further), reference, [z])


CUT = {"dimensions": [2, 8], "head": "none"}


@pytest.fixture
def one_step(tiny_encoder, make_batch):
    """Loss, metrics and gradient of a batch of vectors, shape (B, 2, d), without a model."""
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)

    def step(z, values):
        objective = ContrastiveObjective(make_recipe(values), tokenizer, join())
        vectors = torch.tensor(z, requires_grad=True)
        total, metrics, _ = objective.loss(SimpleNamespace(additions={}), make_batch(vectors))
        total.backward()
        return total.item(), metrics, vectors.grad

    return step


def test_the_loss_is_the_sum_over_the_lengths(one_step):
    z = draw(6, 2, 12)
    total, metrics, gradient = one_step(z, CUT | {"temperature": 0.5})
    none = np.zeros((6, 6))

    def slow(moved):
        cut = (moved[:, :, :length].transpose(1, 0, 2) for length in (12, 2, 8))
        return [reference_info_nce(*sides, none, 0.5, none).mean() for sides in cut]

    assert total == pytest.approx(sum(slow(z)), rel=1e-10)
    assert metrics == pytest.approx(dict(zip(("loss", "loss_2", "loss_8"), slow(z), strict=True)), rel=1e-10)
    np.testing.assert_allclose(gradient, numeric_gradient(lambda moved: sum(slow(moved)), z), atol=2e-8)
    half, _, half_gradient = one_step(z, CUT | {"temperature": 0.5, "contrastive_weight": 0.5})
    assert half == pytest.approx(total / 2)
    np.testing.assert_allclose(half_gradient, gradient / 2)


def test_lengths_are_checked(tmp_path):
    assert load_recipe("simcse", ["dimensions=128,64", "head=none"]).contrast.dimensions == (64, 128)
    assert make_recipe(make_recipe(CUT).as_json()).contrast.dimensions == (2, 8)
    for wrong in (["half"], [0], [8.5]):
        with pytest.raises(UsageError, match="should be lengths, such as"):
            make_recipe({"dimensions": wrong, "head": "none"})
    with pytest.raises(UsageError, match='head "tanh" mixes'):
        make_recipe({"dimensions": [2]})
    with pytest.raises(UsageError, match="dimensions = 8: the encoder's vectors have 8 numbers"):
        shorter(make_recipe(CUT), torch.zeros(1, 2, 8), [])


ids = st.lists(st.integers(0, 9), min_size=4, max_size=4)


@given(ids, ids, ids, st.booleans(), st.booleans(), st.sets(st.integers(0, 3)))
def test_excluded_pairs_are_those_that_a_comparison_of_each_with_each_finds(
    rows, partners, more, beside, equal, gone
):
    rows, partners = ([NO_TEXT if i in gone else n for i, n in enumerate(side)] for side in (rows, partners))
    columns = [*partners, *more]
    anchors = [*rows, NO_SENTENCE, NO_SENTENCE, NO_SENTENCE, NO_SENTENCE]
    sides = map(torch.tensor, (rows, partners, columns))
    found = excluded_pairs(*sides, torch.arange(4), equal, torch.tensor(anchors) if beside else None)
    for i, own in enumerate(zip(rows, partners, strict=True)):
        for j, column in enumerate(columns):
            texts = {column, anchors[j]} if beside else {column}
            wanted = i != j and (NO_TEXT in (column, rows[i]) or (equal and bool(texts & {*own})))
            assert bool(found[i, j]) == wanted, (i, j)


def grids(store, encoder, steps=1, **values):
    """The first batches, and their texts as the objective prepares them."""
    recipe, tokenizer = make_recipe(QUICK | values), load_encoder(encoder).tokenizer
    objective = ContrastiveObjective(recipe, tokenizer, join())
    opened, stages = open_columns(store, objective, tokenizer, join(), {})
    batches = list(Reader(opened, stages, batch=recipe.batch, seed=recipe.seed).epoch(0))[:steps]
    return batches, [objective.prepare(batch, step) for step, batch in enumerate(batches)]


def test_una_adds_its_negatives_and_their_copies_every_alpha_steps(tiny_store, tiny_encoder):
    values = {"loss": "nt-xent", "negatives": ("una",), "alpha": 3}
    _, prepared = grids(tiny_store, tiny_encoder, 7, **values)
    assert [item.texts.shape[1] for item in prepared] == [4, 2, 2, 4, 2, 2, 4]
    first = prepared[0].texts
    assert (first[:, 0] == first[:, 1]).all()
    assert (first[:, 2] == first[:, 3]).all()
    assert (first[:, 2] != first[:, 0]).all()


def test_an_unchanged_positive_is_the_anchor_and_proportion_thins_out(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("aa",))
    for batch, item in zip(batches, prepared, strict=True):
        same = (item.texts[:, 0] == item.texts[:, 1]).numpy()
        np.testing.assert_array_equal(same, batch.row_ids % 2 == 0)

    def changed(proportion):
        _, prepared = grids(tiny_store, tiny_encoder, 9, positives=("aa",), proportion=proportion)
        return sum(int((item.texts[:, 0] != item.texts[:, 1]).sum()) for item in prepared)

    assert changed(0.0) == 0 and 0.25 < changed(0.5) / changed(1.0) < 0.75


def test_a_mix_draws_each_positive_about_equally(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("una", "pi", "self"))
    cells = {name: [ids for b in batches for ids in b.columns[name]] for name in ("una", "pi", "corpus")}
    ids = torch.cat([item.texts for item in prepared])
    same = int((ids[:, 0] == ids[:, 1]).sum())
    fallback = sum(u is None for u in cells["una"]) / 3 + sum(p is None for p in cells["pi"]) / 3
    expected = len(ids) / 3 + fallback
    assert abs(same - expected) < 4 * math.sqrt(len(ids) / 4)


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
    monkeypatch.setattr(views_module, "make_views", lambda recipe: [Nothing(None, recipe)])
    _, by_row = grids(tiny_store, tiny_encoder, 10, **values)
    for one, other in zip(at_once, by_row, strict=True):
        assert torch.equal(one.texts, other.texts) and one.labels.shape == other.labels.shape
        for mine, its in zip(one.slices, other.slices, strict=True):
            assert all(map(torch.equal, vars(mine).values(), vars(its).values()))


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
    readers = [Reader(store, stages, finish=finish, **settings) for finish in (None, objective.finish)]
    sides = [list(reader.epoch(0)) for reader in readers]
    assert [side[0].columns["corpus"].numbers is None for side in sides] == [True, False]
    for step, pair in enumerate(zip(*sides, strict=True)):
        late, early = (objective.prepare(batch, step) for batch in pair)
        assert torch.equal(late.texts, early.texts)
        for one, other in zip(late.slices, early.slices, strict=True):
            for field in ("places", "ids", "lengths"):
                assert torch.equal(getattr(one, field), getattr(other, field))
