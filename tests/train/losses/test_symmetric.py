"""The symmetric loss in value and gradient against a slow NumPy reference in float64."""

import numpy as np
import pytest
import torch

from tests.helpers.slow_losses import check_with_columns, reference_symmetric, some_excluded
from tests.helpers.training import draw
from train.losses.symmetric import symmetric


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_symmetric(negatives, numeric_gradient):
    check_with_columns(symmetric, reference_symmetric, negatives, numeric_gradient)


@pytest.mark.parametrize(
    ("temperature", "dtype", "close"), [(0.5, "float64", 1e-12), (0.05, "float32", 1e-4)]
)
def test_one_matrix_of_exponentials_read_both_ways(temperature, dtype, close, numeric_gradient):
    z, candidates = draw(6, 4), draw(6, 4, seed=1)
    excluded, weights, none = some_excluded(6, 6, np.arange(6)), draw(6, seed=4), np.zeros((6, 6))
    inputs = [torch.tensor(x.astype(dtype), requires_grad=True) for x in (z, candidates)]
    losses = symmetric(*inputs, torch.tensor(excluded), temperature)
    assert type(losses.grad_fn).__name__ == "_BothWaysBackward"
    slow = reference_symmetric(z, candidates, excluded, temperature, none)
    np.testing.assert_allclose(losses.detach(), slow, rtol=close, atol=close)
    (losses * torch.tensor(weights.astype(dtype))).sum().backward()
    for side, value in enumerate((z, candidates)):

        def total(moved, side=side):
            pair = [z, candidates]
            pair[side] = moved
            return float(weights @ reference_symmetric(*pair, excluded, temperature, none))

        wanted = numeric_gradient(total, value)
        np.testing.assert_allclose(inputs[side].grad, wanted, rtol=close, atol=max(2e-8, close))


def test_logits_too_far_apart_for_that_lose_nothing():
    vectors = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], requires_grad=True)
    losses = symmetric(vectors, vectors.detach().flip(0), torch.zeros(2, 2, dtype=torch.bool), 0.01)
    assert losses.tolist() == [200.0, 200.0]  # of its exponentials, e^-200 is 0 in fp32
    losses.sum().backward()
    assert vectors.grad.isfinite().all()
