"""The projection of DiffCSE and AugCSE."""

import torch

from tests.helpers.training import draw
from train.heads import make_head


def test_projection_normalises_over_all_views_of_the_batch():
    torch.manual_seed(0)
    head = make_head("batch-norm", 4).double()
    x = torch.tensor(draw(9, 4))
    first = x @ head[0].weight.T
    scaled = (first - first.mean(0)) / (first.var(0, unbiased=False) + 1e-5).sqrt()
    second = scaled.clamp(min=0) @ head[3].weight.T
    expected = (second - second.mean(0)) / (second.var(0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(head(x), expected)
    assert [tuple(p.shape) for p in head.parameters()] == [(8, 4), (8,), (8,), (4, 8)]
    assert head.dimension == 4
