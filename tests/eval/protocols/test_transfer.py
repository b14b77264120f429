"""Transfer protocols: known answers, a slow reading of the search, and everything out of the ordinary."""

import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from augment_cli.errors import UsageError
from eval.measures.senteval import FAST, PUBLISHED, LinearClassifier
from eval.protocols import transfer


def blobs(n, classes=2, spread=1.0, dimension=4, seed=0):
    generator = np.random.default_rng(seed)
    labels = np.array([f"c{i % classes}" for i in range(n)])
    centres = np.random.default_rng(7).normal(size=(classes, dimension)) * 3
    vectors = centres[[int(label[1:]) for label in labels]] + generator.normal(size=(n, dimension)) * spread
    return vectors.astype(np.float32), labels


def test_separable_classes_are_learnt_in_every_shape_of_data():
    data = blobs(60, spread=0.05)
    assert transfer.score({"all": data}, folds=3).main == 1
    assert transfer.score({"train": data, "test": blobs(30, spread=0.05, seed=1)}, folds=3).main == 1
    parts = {name: blobs(30, spread=0.05, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    outcome = transfer.score(parts)
    assert outcome.scores == {"accuracy": 1, "f1": 1}
    assert outcome.items["correct"].all()


def test_nested_search_equals_a_slow_reading_of_it():
    vectors, labels = blobs(90, spread=4.0)
    outcome = transfer.score({"all": (vectors, labels)}, folds=3)
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
    assert outcome.runs == pytest.approx(accuracies)
    assert outcome.main == pytest.approx(np.mean(accuracies))
    assert outcome.settings["strengths"] == strengths


@pytest.mark.slow
def test_the_number_of_processes_does_not_change_the_result():
    data = blobs(60, spread=4.0)
    one, two = (transfer.score({"all": data}, folds=3, jobs=jobs) for jobs in (1, 2))
    assert one.runs == two.runs
    np.testing.assert_array_equal(one.items["correct"], two.items["correct"])


def test_f1_is_of_the_label_sorted_last_and_equals_scikit_learns():
    train, test = blobs(80, spread=5.0), blobs(50, spread=5.0, seed=3)
    outcome = transfer.score({"train": train, "test": test}, folds=3)
    (strength,) = outcome.settings["strengths"]
    predicted = LogisticRegression(C=strength, max_iter=1000).fit(*train).predict(test[0])
    assert outcome.scores["f1"] == pytest.approx(f1_score(test[1], predicted, pos_label="c1"))


def test_a_label_unseen_in_training_counts_as_an_error_and_is_noted():
    vectors, labels = blobs(20, spread=0.05, seed=1)
    strange = (vectors, np.where(np.arange(20) < 5, "c9", labels))
    outcome = transfer.score({"train": blobs(40, spread=0.05), "test": strange}, folds=3)
    assert outcome.main == pytest.approx(0.75)
    assert outcome.notes == ["labels unseen in training, counted as errors: c9"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x, y: (x, np.full_like(y, "c0")), "one class only"),
        (lambda x, y: (x * np.nan, y), "NaN or infinite"),
        (lambda x, y: (x, np.where(np.arange(len(y)) < 2, "c1", "c0")), "too few for 3 folds"),
    ],
)
def test_what_cannot_be_scored_is_nan_with_the_reason(change, reason):
    outcome = transfer.score({"all": change(*blobs(30))}, folds=3)
    assert math.isnan(outcome.main)
    assert reason in outcome.notes[0]
    if "folds" not in reason:
        assert reason in transfer.acceptability(change(*blobs(30)), blobs(10)).notes[0]


def test_constant_embeddings_give_the_majority_class_and_a_note():
    labels = np.array(["c0"] * 21 + ["c1"] * 9)
    outcome = transfer.score({"all": (np.ones((30, 3)), labels)}, folds=3)
    assert outcome.main == pytest.approx(0.7)
    assert "constant encoder" in outcome.notes[0]


def test_acceptability_is_plain_logistic_regression():
    train, dev = blobs(80, spread=5.0), blobs(40, spread=5.0, seed=2)
    expected = LogisticRegression(max_iter=1000).fit(*train).score(*dev)
    outcome = transfer.acceptability(train, dev)
    assert outcome.main == pytest.approx(expected)
    assert -1 <= outcome.scores["matthews"] <= 1


@pytest.mark.parametrize("protocol", ["senteval-torch", "senteval-torch-fast"])
def test_sentevals_classifier_learns_and_is_deterministic(protocol):
    parts = {name: blobs(600, 3, spread=0.1, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    first, second = (transfer.score(parts, protocol=protocol) for _ in range(2))
    assert first.main > 0.95
    assert first.scores == second.scores
    assert first.settings["strengths"][0] in (1e-5, 1e-4, 1e-3, 1e-2)


def test_published_settings_are_sentevals():
    assert (PUBLISHED.optimizer, PUBLISHED.batch_size, PUBLISHED.tenacity, PUBLISHED.epoch_size) == (
        "adam",
        64,
        5,
        4,
    )
    assert (FAST.optimizer, FAST.batch_size, FAST.tenacity, FAST.epoch_size) == ("rmsprop", 128, 3, 2)
    protocols = transfer.PROTOCOLS
    assert (protocols["senteval-torch"].folds, protocols["senteval-torch-fast"].folds) == (10, 5)


def test_training_stops_once_the_dev_score_no_longer_rises(monkeypatch):
    steps = []
    adam = torch.optim.Adam

    class Counted(adam):
        def step(self, *arguments):
            steps.append(1)
            return super().step(*arguments)

    monkeypatch.setattr("torch.optim.Adam", Counted)
    vectors, labels = blobs(64, spread=0.01)
    LinearClassifier(PUBLISHED, weight_decay=0, seed=0).fit(
        vectors, labels, dev=(vectors[:1] * 0, np.array(["none"]))
    )
    # The dev score is 0 at the first check and never rises: 1 + tenacity + 1 checks of 4 epochs of one batch.
    assert len(steps) == (1 + PUBLISHED.tenacity + 1) * PUBLISHED.epoch_size


def test_unknown_classifiers_are_named():
    with pytest.raises(UsageError, match="choose one of logistic-regression, senteval-torch"):
        transfer.score({"all": blobs(30)}, protocol="svm")
