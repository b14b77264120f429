"""NT-Xent in value and gradient against a slow NumPy reference in float64."""

import math

import numpy as np
import pytest
import torch

from tests.helpers.slow_losses import TAU, reference_nt_xent, some_excluded
from tests.helpers.training import check_gradients, draw
from train.methods.una.nt_xent_loss import nt_xent


def test_nt_xent():
    m, d = 6, 4
    first, second = draw(m, d), draw(m, d, seed=1)
    excluded = some_excluded(2 * m, 2 * m, (np.arange(2 * m) + m) % (2 * m))
    check_gradients(
        lambda *pair: nt_xent(*pair, torch.tensor(excluded), 0.5),
        lambda *pair: reference_nt_xent(*pair, excluded, 0.5),
        [first, second],
        atol=2e-8,
    )


def test_known_values_of_nt_xent():
    # Two orthogonal pairs: the other pair comes twice.
    z = torch.eye(2, dtype=torch.float64)
    pool = nt_xent(z, z, torch.zeros(4, 4, dtype=torch.bool), TAU)
    assert pool.tolist() == pytest.approx([math.log1p(2 * math.exp(-1 / TAU))] * 4)
    # Equal embeddings everywhere: log of the number of candidates.
    same = torch.ones(4, 3, dtype=torch.float64)
    assert nt_xent(same, same, torch.zeros(8, 8, dtype=torch.bool), TAU)[0] == pytest.approx(math.log(7))
