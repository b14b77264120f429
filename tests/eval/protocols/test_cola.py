"""CoLA: plain logistic regression, and what cannot be scored."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from eval.protocols import cola
from tests.helpers.blobs import blobs


def test_it_is_plain_logistic_regression():
    train, dev = blobs(80, spread=5.0), blobs(40, spread=5.0, seed=2)
    expected = LogisticRegression(max_iter=1000).fit(*train).score(*dev)
    score = cola.score(train, dev)
    assert score.main == pytest.approx(expected)
    assert -1 <= score.scores["matthews"] <= 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x, y: (x, np.full_like(y, "c0")), "one class only"),
        (lambda x, y: (x * np.nan, y), "NaN or infinite"),
    ],
)
def test_what_cannot_be_scored_is_nan_with_the_reason(change, reason):
    score = cola.score(change(*blobs(30)), blobs(10))
    assert math.isnan(score.main)
    assert reason in score.notes[0]
