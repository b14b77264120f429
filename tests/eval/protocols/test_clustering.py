"""Clustering: metrics against scikit-learn, known groups found."""

import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.cluster import KMeans

from eval.protocols import clustering


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
