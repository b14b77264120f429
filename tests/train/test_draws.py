"""Seeds for torch: the draws of `torch.manual_seed`, whatever was drawn before."""

import torch

from train.data.order import draw_key, seed_torch


def test_draws_are_those_of_torchs_own_seed_and_leave_no_call_behind():
    torch.manual_seed(draw_key(42, "dropout", 3))
    expected = torch.rand(5)
    waiting = len(torch.cuda._queued_calls)
    torch.rand(2)
    for _ in range(3):
        seed_torch(42, "dropout", 3)
        assert torch.equal(torch.rand(5), expected)
    assert len(torch.cuda._queued_calls) == waiting
    seed_torch(42, "dropout", 4)
    assert not torch.equal(torch.rand(5), expected)
