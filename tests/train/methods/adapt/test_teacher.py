"""A teacher's similarities against a slow reference, and one view of each row in whole runs."""

import dataclasses

import numpy as np
import pytest

from tests.helpers.training import cos, draw
from tests.train.methods.rankcse.test_ranking import slow_list_net
from train.loading import load_recipe, make_recipe
from train.objectives.views import ViewChooser

TEMPERATURES = {"temperature": 0.5, "teacher_temperature": 0.3}  # those of `slow_list_net`


def test_the_term_of_a_batch(taught):
    z, teacher = draw(6, 1, 4), draw(6, 1, 3, seed=1)
    texts = np.arange(6).reshape(6, 1)
    texts[4] = texts[1]  # two rows with one text stand in no list of each other
    addition, batch = taught("teacher", z, teacher, texts, TEMPERATURES)
    labels = batch.labels.clone()
    labels[:, 1] = -1  # the anchor again: nothing beside it has vectors
    batch = dataclasses.replace(batch, labels=labels)
    rows = range(6)
    student, known = (np.array([[cos(x[i, 0], x[j, 0]) for j in rows] for i in rows]) for x in (z, teacher))
    left_out = np.array([[i == j or texts[i, 0] == texts[j, 0] for j in rows] for i in rows])
    assert addition.loss(batch).item() == pytest.approx(
        slow_list_net(student, known, left_out).mean(), rel=1e-9
    )


def test_views(tiny_encoder):
    from transformers import AutoTokenizer

    def views(**values):
        tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
        return ViewChooser(make_recipe(values), tokenizer, slice(0, 4)).count(0)

    assert views(teacher={}, contrastive_weight=0.0) == (1, 1)
    assert views(teacher={}) == (2, 2)  # beside contrast
    assert views(teacher={}, ranking={}, contrastive_weight=0.0) == (2, 2)  # ranking reads positives


def test_adapt_trains_on_nothing_but_similarities():
    recipe = load_recipe("adapt")
    assert recipe.contrast.weight == 0
    assert set(recipe.additions) == {"teacher", "agreement"}
    assert recipe.static_learning_rate > recipe.learning_rate
