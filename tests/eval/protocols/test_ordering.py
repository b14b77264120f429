"""Ordering accuracy on hand-made premises."""

import math

import numpy as np
import pytest

from eval.protocols import ordering


def test_every_entailed_hypothesis_is_paired_with_every_other_one_of_its_premise():
    premises = ["p", "p", "p", "p", "q", "q", "r"]
    labels = ["e", "n", "c", "c", "entailment", "contradiction", "e"]
    base = np.tile([1.0, 0.0], (7, 1))
    hypotheses = np.array([[0.5, 0], [0.4, 0], [0.6, 0], [0.5, 0], [0.2, 9], [0.1, 0], [1, 0]])
    rounds = ["r1"] * 4 + ["r2"] * 3
    score = ordering.score((premises, base), hypotheses, labels, rounds)
    # p: 0.5 beats 0.4, loses to 0.6, ties with 0.5 (which does not count); q: 0.2 beats 0.1; r has no pair.
    assert score.items["correct"].tolist() == [True, False, False, True]
    assert score.scores["accuracy"] == 0.5
    assert score.scores["accuracy_contradiction"] == pytest.approx(1 / 3)
    assert score.scores["accuracy_r1"] == pytest.approx(1 / 3)
    assert score.scores["accuracy_r2"] == 1
    # By cosine the long entailed hypothesis of q points elsewhere.
    assert score.scores["accuracy_cosine"] == 0


def test_premises_of_different_rounds_are_not_mixed():
    vectors = np.ones((2, 2))
    score = ordering.score((["p", "p"], vectors), vectors, ["e", "c"], ["r1", "r2"])
    assert math.isnan(score.main)
    assert "no premise has both" in score.notes[0]


def test_broken_embeddings_are_named():
    vectors = np.full((2, 2), np.nan)
    assert "NaN" in ordering.score((["p", "p"], vectors), vectors, ["e", "c"]).notes[0]
