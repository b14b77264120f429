"""Classifiers on frozen embeddings, and the search for their strength that SentEval does.

The strength of regularisation is the one with the highest mean accuracy, rounded to two decimals as SentEval
does, so that a tie goes to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from augment_cli.errors import UsageError
from eval.measures.processes import parallel
from eval.measures.senteval import FAST, PUBLISHED, LinearClassifier, Settings

SEED = 1111
MAX_ITERATIONS = 1000
Split = tuple[np.ndarray, np.ndarray]  # embeddings (n, d), labels (n,)
Predict = Callable[[np.ndarray], np.ndarray]  # embeddings (n, d) in, labels (n,) out


@dataclass(frozen=True)
class Classifier:
    """A classifier with the strengths that are tried and the number of folds that try them."""

    folds: int  # of each cross-validation
    # what nested cross-validation and a dev part try, and what cross-validation of a training part tries: C
    # of logistic regression, or weight decay
    nested_strengths: tuple[float, ...]
    folded_strengths: tuple[float, ...]
    # settings of SentEval's own classifier; None is scikit-learn's logistic regression
    torch: Settings | None = None

    def fit(self, train: Split, strength: float, dev: Split | None) -> Predict:
        """Train on `train`, stopping early by `dev` where the classifier does; returns the predictor."""
        if self.torch is None:
            model = LogisticRegression(C=strength, max_iter=MAX_ITERATIONS, random_state=SEED)
            predict: Predict = model.fit(*train).predict
            return predict
        return LinearClassifier(self.torch, weight_decay=strength, seed=SEED).fit(*train, dev=dev).predict


_DECAYS = tuple(10.0**power for power in range(-5, -1))
CLASSIFIERS = {
    "logistic-regression": Classifier(
        folds=10,
        nested_strengths=tuple(2.0**power for power in range(-2, 4)),
        folded_strengths=tuple(2.0**power for power in range(-1, 6)),
    ),
    "senteval-torch": Classifier(10, _DECAYS, _DECAYS, PUBLISHED),
    "senteval-torch-fast": Classifier(5, _DECAYS, _DECAYS, FAST),
}


def get(name: str) -> Classifier:
    """A classifier by its name."""
    if name not in CLASSIFIERS:
        raise UsageError(f"unknown classifier {name!r}; choose one of {', '.join(CLASSIFIERS)}")
    return CLASSIFIERS[name]


def search_folds(train: Split, classifier: Classifier, folds: int, *, nested: bool = False) -> float:
    """The best strength by cross-validation on the training part."""
    strengths = classifier.nested_strengths if nested else classifier.folded_strengths
    return _best(strengths, [_fold_accuracy(train, classifier, value, folds) for value in strengths])


def search_dev(train: Split, dev: Split, classifier: Classifier) -> float:
    """The best strength by the accuracy on a dev part, given like `train` as embeddings and labels."""
    strengths = classifier.nested_strengths
    predictors = (classifier.fit(train, strength, dev) for strength in strengths)
    return _best(strengths, [float(np.mean(predict(dev[0]) == dev[1])) for predict in predictors])


def nested_cross_validation(
    data: Split, classifier: Classifier, folds: int, jobs: int
) -> tuple[np.ndarray, list[float], list[float]]:
    """Predict each fold by a classifier whose strength was searched by folds of the other folds."""
    # Returns the predicted label of each row, and accuracy and strength of each outer fold.
    vectors, labels = data
    cuts = list(_folds(folds).split(vectors, labels))

    def one(inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, float]:
        part = (vectors[inside], labels[inside])
        strength = search_folds(part, classifier, folds, nested=True)
        return classifier.fit(part, strength, None)(vectors[outside]), strength

    # A fit is some hundred passes over the numbers, or some thousand small steps of SentEval's classifier.
    fit = 2e-8 * vectors.size * len(np.unique(labels)) if classifier.torch is None else 0.3
    seconds = fit * folds * folds * len(classifier.nested_strengths)
    results = parallel(jobs, seconds)(delayed(one)(inside, outside) for inside, outside in cuts)
    predicted = np.empty_like(labels)
    accuracies, strengths = [], []
    for (_, outside), (answers, strength) in zip(cuts, results, strict=True):
        predicted[outside] = answers
        accuracies.append(float(np.mean(answers == labels[outside])))
        strengths.append(strength)
    return predicted, accuracies, strengths


def _folds(count: int) -> StratifiedKFold:
    return StratifiedKFold(n_splits=count, shuffle=True, random_state=SEED)


def _best(strengths: tuple[float, ...], accuracies: list[float]) -> float:
    return strengths[int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))]


def _fold_accuracy(data: Split, classifier: Classifier, strength: float, count: int) -> float:
    vectors, labels = data
    accuracies = []
    for inside, outside in _folds(count).split(vectors, labels):
        held_out = (vectors[outside], labels[outside])
        predict = classifier.fit((vectors[inside], labels[inside]), strength, held_out)
        accuracies.append(np.mean(predict(held_out[0]) == held_out[1]))
    return float(np.mean(accuracies))
