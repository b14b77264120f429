"""The symmetric loss in value and gradient against a slow NumPy reference in float64."""

import pytest

from tests.helpers.slow_losses import check_with_columns, reference_symmetric
from train.losses.symmetric import symmetric


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_symmetric(negatives):
    check_with_columns(symmetric, reference_symmetric, negatives)
