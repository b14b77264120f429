"""Scores that are not defined, and embeddings that a reader is warned of."""

import math

import numpy as np
import pytest

from eval.contract.task_score import TaskScore, caution, flaw, undefined


def test_an_undefined_score_is_nan_with_its_reason():
    score = undefined("accuracy", "one class only", {"folds": 3})
    assert math.isnan(score.main)
    assert math.isnan(score.scores["accuracy"])
    assert (score.settings, score.notes) == ({"folds": 3}, ["one class only"])


def test_the_deviation_is_that_of_a_sample_and_needs_two_runs():
    assert TaskScore(0.5, {}, [0.4, 0.6]).deviation == pytest.approx(math.sqrt(0.02))
    assert math.isnan(TaskScore(0.5, {}, [0.5]).deviation)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_broken_embeddings_are_flawed(value):
    assert "NaN or infinite" in flaw(np.array([[1.0, value]]))
    assert not flaw(np.ones((2, 2)))


def test_constant_embeddings_call_for_caution_and_one_row_does_not():
    assert caution(np.ones((2, 3))) == ["all embeddings are equal (constant encoder)"]
    assert caution(np.eye(2)) == caution(np.ones((1, 3))) == []
