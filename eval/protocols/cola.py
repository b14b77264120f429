"""CoLA as AugCSE scores it: logistic regression (lbfgs, 1,000 iterations, C = 1) on frozen embeddings."""

from typing import TYPE_CHECKING

import numpy as np

from eval.contract import Encode, Options, Progress, Protocol, TaskScore, caution, flaw, undefined
from eval.tasks import Table

if TYPE_CHECKING:
    from eval.measures.classification import Split

MAX_ITERATIONS = 1000


def score(train: "Split", dev: "Split") -> TaskScore:
    """Train on one part, score the other."""
    # Loaded here, so that listing tasks and printing tables do not wait for scikit-learn.
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import matthews_corrcoef

    settings = {"classifier": "logistic-regression", "C": 1.0, "max_iter": MAX_ITERATIONS}
    if not (reason := flaw(train[0], dev[0])) and len(np.unique(train[1])) < 2:
        reason = "the training part has one class only"
    if reason:
        return undefined("accuracy", reason, settings)
    predicted = LogisticRegression(max_iter=MAX_ITERATIONS).fit(*train).predict(dev[0])
    correct = predicted == dev[1]
    accuracy = float(np.mean(correct))
    scores = {"accuracy": accuracy, "matthews": float(matthews_corrcoef(dev[1], predicted))}
    return TaskScore(accuracy, scores, [], {"correct": correct}, settings, caution(train[0]))


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    train, dev = ((encode(table.texts(split)), table.labels(split)) for split in ("train", "dev"))
    return score(train, dev)


PROTOCOL = Protocol(score=_score)
