"""The search for a classifier's strength: ties, dev parts, and predictions that cover every row."""

import numpy as np
import pytest

from augment_cli.errors import UsageError
from eval.measures import classification
from eval.measures.classification import Classifier
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
