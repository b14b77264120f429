"""Each loss in value and gradient against a slow NumPy reference in float64."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from augment_cli.errors import UsageError
from train import components, losses
from train.data.texts import NO_TEXT
from train.heads import make_head
from train.loading import make_recipe
from train.losses.nt_xent import nt_xent
from train.losses.one_way import one_way
from train.losses.ranking_pos_neg import ranking_pos_neg
from train.losses.symmetric import symmetric
from train.objectives.contrastive import contrast
from train.objectives.masks import excluded_pairs

from tests.helpers.slow_losses import (
    TAU, check_with_columns, cos, draw, reference_nt_xent, reference_one_way, reference_ranking_pos_neg,
    reference_symmetric, some_excluded,
)


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_one_way(negatives, numeric_gradient):
    check_with_columns(one_way, reference_one_way, negatives, numeric_gradient)


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_symmetric(negatives, numeric_gradient):
    check_with_columns(symmetric, reference_symmetric, negatives, numeric_gradient)


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_ranking_pos_neg(negatives, numeric_gradient):
    check_with_columns(ranking_pos_neg, reference_ranking_pos_neg, negatives, numeric_gradient)


def test_nt_xent(numeric_gradient):
    m, d = 6, 4
    first, second = draw(m, d), draw(m, d, seed=1)
    excluded = some_excluded(2 * m, 2 * m, (np.arange(2 * m) + m) % (2 * m))
    weights = draw(2 * m, seed=4)
    inputs = [torch.tensor(x, requires_grad=True) for x in (first, second)]
    losses = nt_xent(*inputs, torch.tensor(excluded), 0.5)
    np.testing.assert_allclose(losses.detach(), reference_nt_xent(first, second, excluded, 0.5), rtol=1e-12)
    (losses * torch.tensor(weights)).sum().backward()
    for side, value in enumerate((first, second)):

        def total(moved, side=side):
            pair = [first, second]
            pair[side] = moved
            return float(weights @ reference_nt_xent(*pair, excluded, 0.5))

        np.testing.assert_allclose(inputs[side].grad, numeric_gradient(total, value), atol=2e-8)


def test_without_hard_negatives_the_two_symmetric_losses_are_one():
    z, candidates = torch.tensor(draw(5, 4)), torch.tensor(draw(5, 4, seed=1))
    excluded = torch.tensor(some_excluded(5, 5, np.arange(5)))
    both = [loss(z, candidates, excluded, TAU) for loss in (symmetric, ranking_pos_neg)]
    torch.testing.assert_close(*both, rtol=1e-12, atol=0)


def test_a_loss_is_found_by_its_file():
    assert {"one-way", "symmetric", "ranking-pos-neg", "nt-xent"} <= set(components.names("losses"))
    for name in components.names("losses"):
        loss = losses.find(name)
        assert callable(loss.function)
        assert loss.layout in ("columns", "pool")
        assert loss.further_negatives in (True, False)
    for name in components.names("heads"):
        head = make_head(name, 6)
        assert head(torch.ones(3, 6)).shape == (3, head.dimension)


def test_known_values_of_one_way():
    # Two orthogonal pairs, each positive equal to its anchor: −log(e^{1/τ} / (e^{1/τ} + e^0)).
    z = torch.eye(2, dtype=torch.float64)
    expected = math.log1p(math.exp(-1 / TAU))
    assert one_way(z, z, torch.zeros(2, 2, dtype=torch.bool), TAU).tolist() == pytest.approx([expected] * 2)
    # Equal embeddings everywhere: log of the number of candidates.
    same = torch.ones(4, 3, dtype=torch.float64)
    assert one_way(same, same, torch.zeros(4, 4, dtype=torch.bool), TAU)[0] == pytest.approx(math.log(4))


def test_known_values_of_nt_xent():
    # Two orthogonal pairs: the other pair comes twice.
    z = torch.eye(2, dtype=torch.float64)
    pool = nt_xent(z, z, torch.zeros(4, 4, dtype=torch.bool), TAU)
    assert pool.tolist() == pytest.approx([math.log1p(2 * math.exp(-1 / TAU))] * 4)
    # Equal embeddings everywhere: log of the number of candidates.
    same = torch.ones(4, 3, dtype=torch.float64)
    assert nt_xent(same, same, torch.zeros(8, 8, dtype=torch.bool), TAU)[0] == pytest.approx(math.log(7))


def test_lengths_of_vectors_do_not_matter():
    z, other = torch.tensor(draw(4, 8)), torch.tensor(draw(4, 8, seed=1))
    none = torch.zeros(4, 4, dtype=torch.bool)
    torch.testing.assert_close(one_way(z, other, none, TAU), one_way(7 * z, 0.1 * other, none, TAU))


def test_a_zero_vector_that_is_excluded_leaves_finite_gradients():
    z = torch.zeros(3, 4, dtype=torch.float64)
    z[0, 0] = z[1, 1] = 1
    z.requires_grad_()
    texts = torch.tensor([1, 2, NO_TEXT])
    excluded = excluded_pairs(texts, texts, texts, torch.arange(3))
    losses = one_way(z, z, excluded, TAU)
    losses[:2].sum().backward()
    assert torch.isfinite(z.grad).all()
    assert losses[2] == 0


def test_equal_texts_fillers_and_missing_negatives_are_excluded_pairs():
    rows = torch.tensor([1, 2, 1, NO_TEXT])
    partners = torch.tensor([5, 2, 6, NO_TEXT])
    columns = torch.tensor([5, 2, 6, NO_TEXT, 9, NO_TEXT, 1, 5])  # positives, then one column of negatives
    excluded = excluded_pairs(rows, partners, columns, torch.arange(4))
    assert excluded.int().tolist() == [
        [0, 0, 0, 1, 0, 1, 1, 1],  # its own text and its positive's are no negatives
        [0, 0, 0, 1, 0, 1, 0, 0],
        [0, 0, 0, 1, 0, 1, 1, 0],
        [1, 1, 1, 0, 1, 1, 1, 1],  # a filler meets nobody
    ]
    without = excluded_pairs(rows, partners, columns, torch.arange(4), equal=False)
    assert without.int().tolist()[0] == [0, 0, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("loss", ["one-way", "symmetric", "nt-xent"])
def test_the_augmented_positive_of_an_equal_sentence_is_no_negative(loss):
    """Rows 0 and 2 hold one sentence, each with a positive of its own; all that is equal drops out."""
    z = draw(4, 2, 6)
    texts = torch.tensor([[1, 10], [2, 20], [1, 30], [3, 40]])
    found = float(contrast(make_recipe({"loss": loss}), torch.from_numpy(z), texts, []))
    views = [(row, side) for row in range(4) for side in (0, 1)]
    every = []
    for row, side in views:
        wrong = {"one-way": [1], "symmetric": [1 - side], "nt-xent": [0, 1]}[loss]
        if loss == "one-way" and side:
            continue
        # Of the sentence's equal, 2 and 0, nothing is met but what is its own.
        met = [(r, s) for r, s in views if s in wrong and r != row and {r, row} != {0, 2}]
        right = math.exp(cos(z[row, side], z[row, 1 - side]) / TAU)
        every.append(-math.log(right / (right + sum(math.exp(cos(z[row, side], z[m]) / TAU) for m in met))))
    assert found == pytest.approx(np.mean(every), rel=1e-10)
    everyone = make_recipe({"loss": loss, "mask_equal_texts": False})
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > found


def test_negative_scope_own_meets_only_the_row_s_own_negatives():
    z = draw(4, 4, 6)  # anchor, positive, two negatives
    texts = torch.arange(16).view(4, 4)
    recipe = make_recipe({"negatives": ["una", "dn"], "negative_layout": "columns", "negative_scope": "own"})
    found = contrast(recipe, torch.from_numpy(z), texts, [])
    losses = []
    for i in range(4):
        met = [z[j, 1] for j in range(4)] + [z[i, 2], z[i, 3]]
        terms = [math.exp(cos(z[i, 0], other) / TAU) for other in met]
        losses.append(-math.log(terms[i] / sum(terms)))
    assert float(found) == pytest.approx(np.mean(losses), rel=1e-10)
    everyone = dataclasses.replace(recipe, negative_scope="all")
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > float(found) + 1e-6


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"negative_scope": "own"}, "negative_scope = 'own' needs negative_layout \"columns\""),
        ({"hard_negative_weight": 0.5}, "hard_negative_weight = 0.5 needs"),
        (
            {"negative_layout": "columns"},
            'needs loss .*"one-way" or .*; with "nt-xent"',
        ),
    ],
)
def test_a_pool_has_no_columns(values, message):
    with pytest.raises(UsageError, match=message):
        make_recipe({"loss": "nt-xent", "negatives": ["una"]} | values)


def test_what_belongs_to_no_row_has_no_way_back():
    with pytest.raises(UsageError, match="adds columns"):
        make_recipe({"loss": "ranking-pos-neg", "momentum": {"queue": 8}})
