"""SentEval's classifier: its published settings, and when training stops."""

import numpy as np
import torch

from eval.measures.classification import CLASSIFIERS
from eval.measures.senteval import FAST, PUBLISHED, LinearClassifier
from tests.helpers.blobs import blobs


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
