"""Nearest neighbour: a test sentence gets the label of the training sentence with the largest cosine."""

from __future__ import annotations

import numpy as np

from eval.contract import Encode, Options, Progress, Protocol, TaskScore, caution, flaw, undefined
from eval.tasks import Table


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    train, test = encode(table.texts("train")), encode(table.texts("test"))
    reason = flaw(train) or flaw(test)
    if reason:
        return undefined("accuracy", reason)
    lengths = np.linalg.norm(train, axis=1)
    nearest = (test @ (train / np.maximum(lengths, 1e-12)[:, None]).T).argmax(axis=1)
    correct = table.labels("train")[nearest] == table.labels("test")
    accuracy = float(correct.mean())
    return TaskScore(accuracy, {"accuracy": accuracy}, items={"correct": correct}, notes=caution(train))


PROTOCOL = Protocol(score=_score, splits=lambda task: ("train", "test"), suffix="Nearest")
