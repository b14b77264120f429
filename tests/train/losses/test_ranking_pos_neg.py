"""AugCSE's loss in value and gradient against a slow NumPy reference in float64."""

import numpy as np
import pytest
import torch

from tests.helpers.slow_losses import TAU, check_with_columns, reference_ranking_pos_neg, some_excluded
from tests.helpers.training import draw
from train.losses.ranking_pos_neg import ranking_pos_neg
from train.losses.symmetric import symmetric


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_ranking_pos_neg(negatives, numeric_gradient):
    check_with_columns(ranking_pos_neg, reference_ranking_pos_neg, negatives, numeric_gradient)


def test_without_hard_negatives_the_two_symmetric_losses_are_one():
    z, candidates = torch.tensor(draw(5, 4)), torch.tensor(draw(5, 4, seed=1))
    excluded = torch.tensor(some_excluded(5, 5, np.arange(5)))
    both = [loss(z, candidates, excluded, TAU) for loss in (symmetric, ranking_pos_neg)]
    torch.testing.assert_close(*both, rtol=1e-12, atol=0)
