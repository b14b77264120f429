"""Sums of one rank against those of gloo, under torchrun.

Run by tests/train/machine/test_shared_sum.py:

shared_sum_worker.py shared|refused|elsewhere|apart
"""

import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist

from train.machine.shared_sum import SharedSum


class Refused(SharedSum):
    """One that may not open the others' memory."""

    @staticmethod
    def _map(place, mark, total):
        return None


class Elsewhere(SharedSum):
    """One that finds a file of somebody else's at that place, as in a container of its own."""

    @staticmethod
    def _map(place, mark, total):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "other"
            other.write_bytes(bytes(total))
            found = SharedSum._map(str(other), mark, total)
            assert other.read_bytes() == bytes(total)
            other.write_bytes(bytes(total // 2))
            assert SharedSum._map(str(other), mark, total) is None
        return found


(how,) = sys.argv[1:]
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
kinds = {"refused": Refused, "elsewhere": Elsewhere} if rank == ranks - 1 else {}  # the last alone
kind = kinds.get(how, SharedSum)
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
