"""Classifiers, K-means and the processes that train them."""

import itertools
import signal
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from joblib import delayed

from augment_cli.errors import UsageError
from eval.measures import classification
from eval.measures.classification import (
    CLASSIFIERS,
    FAST,
    PUBLISHED,
    Classifier,
    LinearClassifier,
    train_and_predict,
)
from eval.measures.kmeans import hungarian_accuracy
from eval.measures.processes import parallel
from tests.helpers.blobs import blobs


class Scripted(Classifier):
    """Predicts the right label (`c0`) above a strength, the wrong one below."""

    def fit(self, train, strength, dev):
        return lambda vectors: np.full(len(vectors), "c0" if strength >= 2 else "c1")


def test_equal_accuracies_go_to_the_first_strength():
    vectors, labels = np.ones((20, 2)), np.full(20, "c0")
    scripted = Scripted(folds=2, nested_strengths=(1, 2, 3), folded_strengths=(1, 4, 5))
    assert classification.search_dev((vectors, labels), (vectors, labels), scripted) == 2
    assert classification.search_folds((vectors, labels), scripted, 2) == 4
    assert classification.search_folds((vectors, labels), scripted, 2, nested=True) == 2


def test_nested_cross_validation_predicts_every_row_once():
    data = blobs(40, spread=0.05)
    classifier = classification.get("logistic-regression")
    predicted, accuracies, strengths = classification.nested_cross_validation(data, classifier, 2, 1)
    assert predicted.tolist() == data[1].tolist()
    assert accuracies == [1, 1]
    assert strengths == [0.25, 0.25]


def test_unknown_classifiers_are_named():
    with pytest.raises(UsageError, match="choose one of logistic-regression, senteval-torch"):
        classification.get("svm")


def test_published_settings_are_sentevals():
    assert (PUBLISHED.optimizer, PUBLISHED.batch_size, PUBLISHED.tenacity, PUBLISHED.epoch_size) == (
        "adam",
        64,
        5,
        4,
    )
    assert (FAST.optimizer, FAST.batch_size, FAST.tenacity, FAST.epoch_size) == ("rmsprop", 128, 3, 2)
    assert [CLASSIFIERS[name].folds for name in ("senteval-torch", "senteval-torch-fast")] == [10, 5]


def test_training_stops_once_the_dev_score_no_longer_rises(monkeypatch):
    steps = []

    class Counted(torch.optim.Adam):
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


def test_clear_classes_are_learnt_and_one_seed_gives_one_answer():
    generator = np.random.default_rng(0)
    labels = np.array(["a", "b"] * 20)
    vectors = np.repeat(np.eye(2), 200, axis=1)[[0, 1] * 20] + generator.normal(size=(40, 400)) * 0.5
    splits, test = [(np.arange(10), np.arange(10, 20)), (np.arange(2, 12), np.arange(10))], vectors[20:]
    one, again = (train_and_predict(vectors, labels, splits, test) for _ in range(2))
    assert one.tolist() == again.tolist() == [labels[20:].tolist()] * 2


def test_a_split_learns_the_same_beside_others_as_alone():
    generator = np.random.default_rng(0)
    labels, vectors = np.array(list("abcd") * 20), generator.normal(size=(80, 8))
    rows = [generator.permutation(60) for _ in range(3)]
    splits = [(each[:40], each[40:]) for each in rows]
    beside = train_and_predict(vectors, labels, splits, vectors[60:])
    assert beside[0].tolist() == train_and_predict(vectors, labels, splits[:1], vectors[60:])[0].tolist()
    assert len({tuple(answers) for answers in beside}) == 3


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_accuracy_is_that_of_the_best_permutation(rows):
    gold, clusters = (np.array(column) for column in zip(*rows, strict=True))
    best = max(
        np.mean([order[cluster] == label for label, cluster in rows])
        for order in itertools.permutations(range(4))
    )
    assert hungarian_accuracy(gold, clusters) == pytest.approx(best)


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 1000), (2, 1)])
def test_one_job_or_a_little_work_is_done_in_this_process(jobs, seconds):
    assert (
        parallel(jobs, seconds)(delayed(signal.getsignal)(signal.SIGINT) for _ in "ab")
        == [signal.getsignal(signal.SIGINT)] * 2
    )


@pytest.mark.slow
def test_workers_leave_ctrl_c_to_their_parent():
    handlers = parallel(2, 1000, timeout=120)(delayed(signal.getsignal)(signal.SIGINT) for _ in range(4))
    assert set(handlers) == {signal.SIG_IGN}


def test_a_worker_that_has_grown_is_replaced_without_a_warning():
    """As loky warns in a thread of its own, an error there would leave the results waiting for ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel(2, 1000)
        warnings.warn(  # loky's words
            "A worker stopped while some jobs were given to the executor. This can be caused by a too short "
            "worker timeout or by a memory leak.",
            stacklevel=1,
        )
