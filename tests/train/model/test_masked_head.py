"""The head of masked language modelling against its formula."""

import numpy as np
import pytest
import torch

from train.model.masked_head import MaskedHead
from train.objectives.masked_language import Masking

RATE = 0.15


def masking(**settings):
    values = {
        "rate": RATE,
        "seed": 3,
        "max_length": 32,
        "mask": 4,
        "pad": 0,
        "ordinary": np.arange(5, 1000),
        "before": [2],
        "after": [3],
    }
    return Masking(**(values | settings))


def test_head_is_the_sum_of_negative_log_likelihoods():
    torch.manual_seed(0)
    words = torch.nn.Embedding(50, 8, dtype=torch.float64)
    head = MaskedHead(8, 50, words).double()
    states = torch.randn(3, 6, 8, dtype=torch.float64)
    item = masking(ordinary=np.arange(5, 50)).hide([np.arange(5, 9)] * 3, 1, slice(0, 3), 3, 1)[0]
    picked = states.reshape(-1, 8)[item.hidden]
    with torch.no_grad():
        logits = head.norm(torch.nn.functional.gelu(head.dense(picked))) @ words.weight.T + head.bias
    expected = sum(
        float(torch.logsumexp(row, 0) - row[target]) for row, target in zip(logits, item.targets, strict=True)
    )
    assert len(item.targets) > 0
    assert float(head(states, item.hidden, item.targets).detach()) == pytest.approx(expected, rel=1e-12)
