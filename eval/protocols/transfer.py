"""Transfer tasks as SentEval scores them: a classifier on frozen embeddings, its regularisation searched.

Three shapes of data, three searches: no official split (MR, CR, SUBJ, MPQA) is nested cross-validation,
train and test (TREC, MRPC) is cross-validation on the training part, train, dev and test (SST-2) takes the
dev part.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from eval.contract import (
    Encode,
    Options,
    Progress,
    Protocol,
    Setting,
    TaskScore,
    caution,
    flaw,
    rejoin,
    undefined,
)
from eval.tasks import Table

if TYPE_CHECKING:
    from eval.measures.classification import Split

CLASSIFIER = Setting("classifier", "logistic-regression", "or senteval-torch, senteval-torch-fast")


def score(
    splits: "dict[str, Split]",
    *,
    classifier: str = "logistic-regression",
    folds: int | None = None,
    jobs: int = 1,
) -> TaskScore:
    """Score embeddings on one transfer task."""
    # splits: `all`; or `train` and `test`; or `train`, `dev` and `test`.
    # Loaded here, so that listing tasks and printing tables do not wait for scikit-learn and torch.
    from sklearn.metrics import f1_score

    from eval.measures import classification

    chosen = classification.get(classifier)
    count = folds or chosen.folds
    settings: dict[str, Any] = {"classifier": classifier, "folds": count, "seed": classification.SEED}
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
        gold = train[1]
        predicted, runs, strengths = classification.nested_cross_validation(train, chosen, count, jobs)
        accuracy = float(np.mean(runs))
    else:
        test, gold = splits["test"]
        if unseen := sorted(set(gold) - set(labels)):
            notes.append(f"labels unseen in training, counted as errors: {', '.join(map(str, unseen))}")
        dev = splits.get("dev")
        if dev:
            strength = classification.search_dev(train, dev, chosen)
        else:
            strength = classification.search_folds(train, chosen, count)
        predicted = chosen.fit(train, strength, dev)(test)
        runs, strengths = [], [strength]
        accuracy = float(np.mean(predicted == gold))
    scores = {"accuracy": accuracy}
    if len(labels) == 2:
        positive = labels[-1]
        scores["f1"] = float(f1_score(gold == positive, predicted == positive))
    settings["strengths"] = strengths
    return TaskScore(accuracy, scores, runs, {"correct": predicted == gold}, settings, notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    splits = {split: (_features(table, encode, split), table.labels(split)) for split in table.task.counts}
    return score(splits, classifier=str(options.value(CLASSIFIER)), jobs=options.jobs)


def _features(table: Table, encode: Encode, split: str) -> np.ndarray:
    """Embeddings (n, d); of pairs |u − v| and u · v side by side, (n, 2d), as SentEval has it."""
    columns = [encode(table.select(column, split)) for column in table.task.text_columns]
    if len(columns) == 2:
        return np.concatenate([abs(columns[0] - columns[1]), columns[0] * columns[1]], axis=1)
    return columns[0]


PROTOCOL = Protocol(
    score=_score,
    prepare=rejoin,
    deviates=False,  # the runs are the folds of one cross-validation
    settings=(CLASSIFIER,),
    suffix="SentEval",
)
