"""Transfer protocols: known answers, a slow reading of the search, and everything out of the ordinary."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from eval.protocols import transfer
from tests.helpers.blobs import blobs


def test_separable_classes_are_learnt_in_every_shape_of_data():
    data = blobs(60, spread=0.05)
    assert transfer.score({"all": data}, folds=3).main == 1
    assert transfer.score({"train": data, "test": blobs(30, spread=0.05, seed=1)}, folds=3).main == 1
    parts = {name: blobs(30, spread=0.05, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    score = transfer.score(parts)
    assert score.scores == {"accuracy": 1, "f1": 1}
    assert score.items["correct"].all()


@pytest.mark.slow
def test_nested_search_equals_a_slow_reading_of_it():
    vectors, labels = blobs(90, spread=4.0)
    score = transfer.score({"all": (vectors, labels)}, folds=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=1111)
    accuracies, strengths = [], []
    for train, test in folds.split(vectors, labels):
        inside_x, inside_y = vectors[train], labels[train]
        means = []
        for strength in (0.25, 0.5, 1, 2, 4, 8):
            fold_scores = []
            for a, b in folds.split(inside_x, inside_y):
                model = LogisticRegression(C=strength, max_iter=1000).fit(inside_x[a], inside_y[a])
                fold_scores.append(model.score(inside_x[b], inside_y[b]))
            means.append(round(100 * np.mean(fold_scores), 2))
        strengths.append((0.25, 0.5, 1, 2, 4, 8)[means.index(max(means))])
        model = LogisticRegression(C=strengths[-1], max_iter=1000).fit(inside_x, inside_y)
        accuracies.append(model.score(vectors[test], labels[test]))
    assert score.runs == pytest.approx(accuracies)
    assert score.main == pytest.approx(np.mean(accuracies))
    assert score.settings["strengths"] == strengths


@pytest.mark.slow
def test_the_number_of_processes_does_not_change_the_result():
    data = blobs(60, spread=4.0)
    one, two = (transfer.score({"all": data}, folds=3, jobs=jobs) for jobs in (1, 2))
    assert one.runs == two.runs
    np.testing.assert_array_equal(one.items["correct"], two.items["correct"])


def test_f1_is_of_the_label_sorted_last_and_equals_scikit_learns():
    train, test = blobs(80, spread=5.0), blobs(50, spread=5.0, seed=3)
    score = transfer.score({"train": train, "test": test}, folds=3)
    (strength,) = score.settings["strengths"]
    predicted = LogisticRegression(C=strength, max_iter=1000).fit(*train).predict(test[0])
    assert score.scores["f1"] == pytest.approx(f1_score(test[1], predicted, pos_label="c1"))


def test_a_label_unseen_in_training_counts_as_an_error_and_is_noted():
    vectors, labels = blobs(20, spread=0.05, seed=1)
    strange = (vectors, np.where(np.arange(20) < 5, "c9", labels))
    score = transfer.score({"train": blobs(40, spread=0.05), "test": strange}, folds=3)
    assert score.main == pytest.approx(0.75)
    assert score.notes == ["labels unseen in training, counted as errors: c9"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x, y: (x, np.full_like(y, "c0")), "one class only"),
        (lambda x, y: (x * np.nan, y), "NaN or infinite"),
        (lambda x, y: (x, np.where(np.arange(len(y)) < 2, "c1", "c0")), "too few for 3 folds"),
    ],
)
def test_what_cannot_be_scored_is_nan_with_the_reason(change, reason):
    score = transfer.score({"all": change(*blobs(30))}, folds=3)
    assert math.isnan(score.main)
    assert reason in score.notes[0]


def test_constant_embeddings_give_the_majority_class_and_a_note():
    labels = np.array(["c0"] * 21 + ["c1"] * 9)
    score = transfer.score({"all": (np.ones((30, 3)), labels)}, folds=3)
    assert score.main == pytest.approx(0.7)
    assert "constant encoder" in score.notes[0]


@pytest.mark.parametrize(
    "classifier", [pytest.param("senteval-torch", marks=pytest.mark.slow), "senteval-torch-fast"]
)
def test_sentevals_classifier_learns_and_is_deterministic(classifier):
    parts = {name: blobs(600, 3, spread=0.1, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    first, second = (transfer.score(parts, classifier=classifier) for _ in range(2))
    assert first.main > 0.95
    assert first.scores == second.scores
    assert first.settings["strengths"][0] in (1e-5, 1e-4, 1e-3, 1e-2)
