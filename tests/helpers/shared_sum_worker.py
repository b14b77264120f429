"""Sums of one rank against those of gloo, under torchrun.

Run by tests/train/machine/test_shared_sum.py:

shared_sum_worker.py shared|refused|apart
"""

import sys

import torch
import torch.distributed as dist

from train.machine.shared_sum import SharedSum


class Refused(SharedSum):
    """One that may not open the others' memory."""

    @staticmethod
    def _map(place, file, total):
        return None


(how,) = sys.argv[1:]
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
kind = Refused if how == "refused" and rank == ranks - 1 else SharedSum  # the last alone
shared = kind(rank, ranks, how != "apart")
for step, dtype in enumerate((torch.float32, torch.float64, torch.float32)):
    for size in (1, 3, 1000, 7, 5000):  # smaller and larger than the one before
        torch.manual_seed(100 * step + size + 10_000 * rank)
        parts = [torch.randn(size, 3, dtype=dtype), torch.randn(2, dtype=dtype), torch.randn(0, dtype=dtype)]
        before = [part.clone() for part in parts]
        actual = shared.sum(parts)
        assert all(map(torch.equal, parts, before))
        everyone = [torch.empty(3 * size + 2, dtype=dtype) for _ in range(ranks)]
        dist.all_gather(everyone, torch.cat([part.reshape(-1) for part in parts]))
        if how == "shared":
            expected = everyone[0]
            for other in everyone[1:]:
                expected = expected + other
            assert torch.equal(actual, expected)
        else:
            torch.testing.assert_close(actual, sum(everyone))
        actual.zero_()  # the caller's own: changes nothing for the others
print(f"slots {len(shared._slots)}")
dist.destroy_process_group()
