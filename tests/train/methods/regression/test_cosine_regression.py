"""Regression on cached vectors against slow references in float64, and as a run's only loss."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from augment_cli.errors import MixError
from tests.helpers.training import check_gradients, cos, draw
from train.loading import make_recipe
from train.methods.adapt.base_teacher import vector_regression
from train.methods.regression.cosine_regression_addition import similarity_regression


def slow_similarities(u, t, real):
    rows = [i for i in range(len(u)) if real[i]]
    return np.array(
        [np.mean([(cos(u[i], u[j]) - cos(t[i], t[j])) ** 2 for j in rows]) for i in range(len(u))]
    )


def slow_vectors(u, t, real):
    rows = [t[i] for i in range(len(t)) if real[i]]
    spread = np.mean([1 - cos(a, b) for a, b in itertools.permutations(rows, 2)])
    return np.array([(1 - cos(a, b)) / spread for a, b in zip(u, t, strict=True)])


@pytest.mark.parametrize("on", ["similarities", "vectors"])
def test_value_and_gradient(on):
    u, t, real = draw(5, 4), draw(5, 4, seed=1), np.array([True, True, True, True, False])
    fast, slow = {
        "similarities": (
            lambda value: similarity_regression(value, torch.tensor(t), torch.tensor(real)),
            slow_similarities,
        ),
        "vectors": (lambda value: vector_regression(value, torch.tensor(t), torch.tensor(real)), slow_vectors),
    }[on]
    check_gradients(fast, lambda moved: slow(moved, t, real), [u], atol=1e-7, rtol=1e-10)


@pytest.mark.parametrize("on", ["similarities", "vectors"])
def test_the_term_of_a_batch_is_the_mean_over_anchors_and_positives(on, taught):
    z, teacher, texts = draw(6, 2, 4), draw(6, 2, 4, seed=1), np.arange(12).reshape(6, 2)
    texts[5] = -1  # padding
    addition, batch = taught("cosine_regression", z, teacher, texts, {"on": on})
    slow = slow_similarities if on == "similarities" else slow_vectors
    real = np.arange(6) < 5
    expected = np.mean([slow(z[:, view], teacher[:, view], real)[:5] for view in (0, 1)])
    assert addition.loss(batch).item() == pytest.approx(expected, rel=1e-10)


def test_a_teacher_whose_cosines_are_all_high_is_held_as_one_whose_are_spread():
    u, t = (F.normalize(torch.tensor(draw(5, 4, seed=seed)), dim=-1) for seed in (0, 1))
    real = torch.ones(5, dtype=torch.bool)
    narrow = [F.pad(vectors, (0, 1), value=3.0) for vectors in (u, t)]
    assert torch.allclose(vector_regression(*narrow, real), vector_regression(u, t, real))


def test_texts_that_are_all_alike_have_a_finite_distance():
    same = torch.ones(3, 4)
    losses = vector_regression(-same, same, torch.ones(3, dtype=torch.bool))
    assert losses.tolist() == pytest.approx([2 / 0.05] * 3)


def test_vectors_of_another_length_cannot_be_regressed_on(taught):
    texts = np.arange(12).reshape(6, 2)
    parts = draw(6, 2, 4), draw(6, 2, 3, seed=1), texts
    addition, batch = taught("cosine_regression", *parts, {"on": "vectors"})
    with pytest.raises(MixError, match="the teacher's have 3 numbers, the encoder's 4"):
        addition.loss(batch)


def test_without_contrast_a_recipe_says_so():
    assert (
        make_recipe({"contrastive_weight": 0, "cosine_regression": {}}).as_json()["contrastive_weight"] == 0
    )
    assert "contrastive_weight" not in make_recipe({}).as_json()  # as in checkpoints of earlier releases
