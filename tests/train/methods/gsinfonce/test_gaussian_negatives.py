"""gsInfoNCE's Gaussian negatives."""

import torch

from tests.helpers.training import draw
from train.data.texts import NO_SENTENCE


def test_gaussian_negatives(make_addition, make_batch):
    addition = make_addition("gaussian_negatives", count=5000)
    torch.manual_seed(1)
    vectors, ids = addition.negatives(make_batch(draw(3, 2, 4)))
    assert vectors.shape == (5000, 4)
    assert vectors.dtype == torch.float64
    assert (ids == NO_SENTENCE).all()
    torch.testing.assert_close(vectors.T.cov(), torch.eye(4).double(), atol=0.1, rtol=0)
    assert vectors.mean(0).abs().max() < 0.06
