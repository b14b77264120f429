"""The decoupled loss in value and gradient against a slow NumPy reference in float64."""

import math

import numpy as np
import pytest
from train.losses.decoupled import decoupled

from tests.helpers.training import check_with_columns, cos


def reference_decoupled(z, candidates, excluded, tau, logit_bias):
    losses = []
    for i in range(len(z)):
        logits = [cos(z[i], c) / tau + more for c, more in zip(candidates, logit_bias[i], strict=True)]
        met = [logits[j] for j in range(len(candidates)) if j != i and not excluded[i, j]]
        losses.append(math.log(sum(map(math.exp, met))) - logits[i])
    return np.array(losses)


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_decoupled(negatives):
    check_with_columns(decoupled, reference_decoupled, negatives)
