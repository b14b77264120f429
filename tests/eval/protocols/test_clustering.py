"""Protocols on classes and order: clustering, CoLA, ordering."""

import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from eval.protocols import clustering, cola, ordering
from tests.helpers.blobs import blobs


def test_clear_groups_are_found_by_every_seed():
    generator = np.random.default_rng(0)
    labels = [f"c{i % 3}" for i in range(60)]
    vectors = np.eye(3)[[i % 3 for i in range(60)]] * 10 + generator.normal(size=(60, 3))
    score = clustering.score(vectors, labels)
    assert score.runs == [1.0] * 10
    assert score.scores == pytest.approx({"accuracy": 1, "nmi": 1, "ari": 1, "v_measure": 1})
    assert score.deviation == 0


def test_metrics_equal_scikit_learns_on_the_same_clusters():
    generator = np.random.default_rng(1)
    vectors, labels = generator.normal(size=(50, 4)), generator.integers(0, 4, 50).astype(str)
    score = clustering.score(vectors, list(labels), seeds=[3])
    clusters = KMeans(4, n_init=10, random_state=3).fit_predict(vectors)
    assert score.scores["nmi"] == pytest.approx(metrics.normalized_mutual_info_score(labels, clusters))
    assert score.scores["ari"] == pytest.approx(metrics.adjusted_rand_score(labels, clusters))
    assert score.scores["v_measure"] == pytest.approx(metrics.v_measure_score(labels, clusters))
    assert score.scores == clustering.score(vectors, list(labels), seeds=[3]).scores


@pytest.mark.slow
def test_the_number_of_processes_does_not_change_the_result():
    generator = np.random.default_rng(2)
    vectors, labels = generator.normal(size=(400, 8)).astype(np.float32), [str(i % 5) for i in range(400)]
    one, two = (clustering.score(vectors, labels, seeds=range(4), jobs=jobs) for jobs in (1, 2))
    assert one.scores == two.scores
    assert one.runs == two.runs


def test_constant_nan_and_one_class_are_defined_and_named():
    labels = ["a"] * 6 + ["b"] * 4
    constant = clustering.score(np.ones((10, 3)), labels, seeds=[0])
    assert constant.main == pytest.approx(0.6)
    assert "constant encoder" in constant.notes[0]
    assert "fewer distinct embeddings than classes" in constant.notes[1]
    broken = clustering.score(np.full((10, 3), np.nan), labels)
    assert math.isnan(broken.main)
    assert "NaN" in broken.notes[0]
    single = clustering.score(np.ones((4, 2)), ["a"] * 4)
    assert math.isnan(single.main)
    assert "one class only" in single.notes[0]


def test_it_is_plain_logistic_regression():
    train, dev = blobs(80, spread=5.0), blobs(40, spread=5.0, seed=2)
    expected = LogisticRegression(max_iter=1000).fit(*train).score(*dev)
    score = cola.score(train, dev)
    assert score.main == pytest.approx(expected)
    assert -1 <= score.scores["matthews"] <= 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x, y: (x, np.full_like(y, "c0")), "one class only"),
        (lambda x, y: (x * np.nan, y), "NaN or infinite"),
    ],
)
def test_what_cannot_be_scored_is_nan_with_the_reason(change, reason):
    score = cola.score(change(*blobs(30)), blobs(10))
    assert math.isnan(score.main)
    assert reason in score.notes[0]


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
