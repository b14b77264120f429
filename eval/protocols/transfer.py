"""Transfer tasks as SentEval scores them: a classifier on frozen embeddings, its regularisation searched.

Three shapes of data, three searches: no official split (MR, CR, SUBJ, MPQA) is nested cross-validation,
train and test (TREC, MRPC) is cross-validation on the training part, train, dev and test (SST-2) takes the
dev part.
The strength is the one with the highest mean accuracy, rounded to two decimals as SentEval does, so that a
tie goes to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.model_selection import StratifiedKFold

from augment_cli.errors import UsageError
from eval.measures.senteval import FAST, PUBLISHED, LinearClassifier, Settings
from eval.results.outcome import Outcome, caution, flaw, undefined

SEED = 1111
MAX_ITERATIONS = 1000
Split = tuple[np.ndarray, np.ndarray]  # embeddings (n, d), labels (n,)


@dataclass(frozen=True)
class Protocol:
    """A named classifier with the strengths it searches and its number of folds."""

    name: str
    folds: int
    nested_strengths: tuple[float, ...]
    folded_strengths: tuple[float, ...]
    torch: Settings | None = None

    def fit(self, train: Split, strength: float, dev: Split | None) -> Callable[[np.ndarray], np.ndarray]:
        """Train on `train`; return the predictor."""
        if self.torch is None:
            model = LogisticRegression(C=strength, max_iter=MAX_ITERATIONS, random_state=SEED)
            predict: Callable[[np.ndarray], np.ndarray] = model.fit(*train).predict
            return predict
        return LinearClassifier(self.torch, weight_decay=strength, seed=SEED).fit(*train, dev=dev).predict


_DECAYS = tuple(10.0**power for power in range(-5, -1))
PROTOCOLS = {
    "logistic-regression": Protocol(
        "logistic-regression",
        folds=10,
        nested_strengths=tuple(2.0**power for power in range(-2, 4)),
        folded_strengths=tuple(2.0**power for power in range(-1, 6)),
    ),
    "senteval-torch": Protocol("senteval-torch", 10, _DECAYS, _DECAYS, PUBLISHED),
    "senteval-torch-fast": Protocol("senteval-torch-fast", 5, _DECAYS, _DECAYS, FAST),
}


def score(
    splits: dict[str, Split],
    *,
    protocol: str = "logistic-regression",
    folds: int | None = None,
    jobs: int = 1,
) -> Outcome:
    """Score embeddings on one transfer task.

    Parameters
    ----------
    splits
        By name: `all`; or `train` and `test`; or `train`, `dev` and `test`. Embeddings (n, d), labels (n,).
    protocol
        `logistic-regression` (scikit-learn), `senteval-torch` (SentEval's own classifier with its published
        settings: Adam, batch 64, tenacity 5, 4 epochs between checks, 10 folds) or `senteval-torch-fast`
        (RMSprop, 128, 3, 2, 5 folds).
    folds
        Overrides the protocol's number of folds.
    jobs
        Processes for nested cross-validation; the result does not depend on it.

    Returns
    -------
    Outcome
        `accuracy` and, for two classes, `f1` of the class named last in sorted order; `items["correct"]`
        per test row. One class alone, or fewer rows of a class than folds, is NaN with a note; a test label
        that the training part lacks counts as an error and is noted.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"unknown classifier {protocol!r}; choose one of {', '.join(PROTOCOLS)}")
    chosen = PROTOCOLS[protocol]
    count = folds or chosen.folds
    settings: dict[str, Any] = {"classifier": protocol, "folds": count, "seed": SEED}
    everything = np.concatenate([vectors for vectors, _ in splits.values()])
    train = splits["all"] if "all" in splits else splits["train"]
    labels, sizes = np.unique(train[1], return_counts=True)
    reason = flaw(everything)
    if not reason and len(labels) < 2:
        reason = "the training part has one class only"
    if not reason and "dev" not in splits and sizes.min() < (2 * count if "all" in splits else count):
        reason = f"the smallest class has {sizes.min()} rows, too few for {count} folds"
    if reason:
        return undefined("accuracy", reason, settings)
    notes = caution(everything)
    if "all" in splits:
        predicted, runs, strengths = _nested(train, chosen, count, jobs)
        gold = train[1]
        accuracy = float(np.mean(runs))
    else:
        unseen = sorted(set(splits["test"][1]) - set(labels))
        if unseen:
            notes.append(f"labels unseen in training, counted as errors: {', '.join(map(str, unseen))}")
        dev = splits.get("dev")
        strength = _search_dev(train, dev, chosen) if dev else _search_folds(train, chosen, count)
        predicted, gold = chosen.fit(train, strength, dev)(splits["test"][0]), splits["test"][1]
        runs, strengths = [], [strength]
        accuracy = float(np.mean(predicted == gold))
    scores = {"accuracy": accuracy}
    if len(labels) == 2:
        positive = labels[-1]
        scores["f1"] = float(f1_score(gold == positive, predicted == positive))
    settings["strengths"] = strengths
    return Outcome(accuracy, scores, runs, {"correct": predicted == gold}, settings, notes)


def acceptability(train: Split, dev: Split) -> Outcome:
    """CoLA as AugCSE scores it: logistic regression (lbfgs, 1,000 iterations, C = 1) on frozen embeddings.

    Returns
    -------
    Outcome
        `accuracy`, and `matthews`, the correlation that GLUE reports for this set.
    """
    settings = {"classifier": "logistic-regression", "C": 1.0, "max_iter": MAX_ITERATIONS}
    reason = flaw(np.concatenate([train[0], dev[0]]))
    if not reason and len(np.unique(train[1])) < 2:
        reason = "the training part has one class only"
    if reason:
        return undefined("accuracy", reason, settings)
    predicted = LogisticRegression(max_iter=MAX_ITERATIONS).fit(*train).predict(dev[0])
    accuracy = float(np.mean(predicted == dev[1]))
    scores = {"accuracy": accuracy, "matthews": float(matthews_corrcoef(dev[1], predicted))}
    return Outcome(accuracy, scores, [], {"correct": predicted == dev[1]}, settings, caution(train[0]))


def _folds(count: int) -> StratifiedKFold:
    return StratifiedKFold(n_splits=count, shuffle=True, random_state=SEED)


def _best(strengths: tuple[float, ...], accuracies: list[float]) -> float:
    return strengths[int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))]


def _fold_accuracy(data: Split, protocol: Protocol, strength: float, count: int) -> float:
    vectors, labels = data
    accuracies = []
    for inside, outside in _folds(count).split(vectors, labels):
        held = (vectors[outside], labels[outside])
        predict = protocol.fit((vectors[inside], labels[inside]), strength, held)
        accuracies.append(np.mean(predict(held[0]) == held[1]))
    return float(np.mean(accuracies))


def _search_folds(train: Split, protocol: Protocol, count: int, *, nested: bool = False) -> float:
    strengths = protocol.nested_strengths if nested else protocol.folded_strengths
    return _best(strengths, [_fold_accuracy(train, protocol, value, count) for value in strengths])


def _search_dev(train: Split, dev: Split, protocol: Protocol) -> float:
    strengths = protocol.nested_strengths
    predictors = (protocol.fit(train, strength, dev) for strength in strengths)
    return _best(strengths, [float(np.mean(predict(dev[0]) == dev[1])) for predict in predictors])


def _nested(
    data: Split, protocol: Protocol, count: int, jobs: int
) -> tuple[np.ndarray, list[float], list[float]]:
    vectors, labels = data
    cuts = list(_folds(count).split(vectors, labels))

    def one(inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, float]:
        part = (vectors[inside], labels[inside])
        strength = _search_folds(part, protocol, count, nested=True)
        return protocol.fit(part, strength, None)(vectors[outside]), strength

    results = Parallel(n_jobs=jobs)(delayed(one)(inside, outside) for inside, outside in cuts)
    predicted = np.empty_like(labels)
    runs, strengths = [], []
    for (_, outside), (answers, strength) in zip(cuts, results, strict=True):
        predicted[outside] = answers
        runs.append(float(np.mean(answers == labels[outside])))
        strengths.append(strength)
    return predicted, runs, strengths
