"""Dropout from few bits is dropout."""

import pytest
import torch
from torch import nn

from train.model.fast.bert import BitDropout, use_bit_dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_rate_scale_and_gradient(p, dtype):
    torch.manual_seed(0)
    x = torch.ones(301, 333, dtype=dtype, requires_grad=True)
    y = BitDropout(p)(x)
    zero = (y == 0).double().mean().item()
    assert zero == pytest.approx(p, abs=4 * (p * (1 - p) / x.numel()) ** 0.5)
    assert y.max().item() == pytest.approx(1 / (1 - p), rel=1e-2 if dtype == torch.bfloat16 else 1e-4)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_the_four_numbers_of_a_draw_are_independent():
    torch.manual_seed(1)
    kept = (BitDropout(0.5)(torch.ones(400_000)) != 0).double().reshape(-1, 4)
    for lane in range(4):
        assert kept[:, lane].mean().item() == pytest.approx(0.5, abs=4 * 0.5 / 100_000**0.5)
    correlation = torch.corrcoef(kept.T) - torch.eye(4)
    assert correlation.abs().max().item() < 5 / 100_000**0.5


def test_seeded_and_off_in_evaluation():
    x = torch.randn(7, 5)
    layer = BitDropout(0.2)
    torch.manual_seed(3)
    first = layer(x)
    torch.manual_seed(3)
    torch.testing.assert_close(layer(x), first, rtol=0, atol=0)
    assert not torch.equal(layer(x), first)
    torch.testing.assert_close(layer.eval()(x), x, rtol=0, atol=0)
    torch.testing.assert_close(BitDropout(0.0)(x), x, rtol=0, atol=0)


def test_replaces_every_layer_and_keeps_the_rate():
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Dropout(0.25), nn.Linear(3, 3)))
    names = list(model.state_dict())
    use_bit_dropout(model)
    assert isinstance(model[1][0], BitDropout)
    assert model[1][0].p == 0.25
    assert list(model.state_dict()) == names
