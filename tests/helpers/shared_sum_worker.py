"""Sums of one rank against those of gloo, in processes of its own.

Run by tests/train/machine/test_distributed.py:

shared_sum_worker.py RANKS (shared|refused|elsewhere|apart)...
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist

from train.machine.fast import SharedSum


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


def check(how: str, rank: int, ranks: int) -> None:
    """Compare the sums of one way, and print how many slots of memory it shares."""
    kinds = {"refused": Refused, "elsewhere": Elsewhere} if rank == ranks - 1 else {}  # the last alone
    shared = kinds.get(how, SharedSum)(rank, ranks, how != "apart")
    for step, dtype in enumerate((torch.float32, torch.float64, torch.float32)):
        for size in (1, 3, 1000, 7, 5000):  # smaller and larger than the one before
            torch.manual_seed(100 * step + size + 10_000 * rank)
            parts = [
                torch.randn(size, 3, dtype=dtype),
                torch.randn(2, dtype=dtype),
                torch.randn(0, dtype=dtype),
            ]
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
    os.write(1, f"{how} slots {len(shared._slots)}\n".encode())  # at once, as others print beside it


def run(rank: int, ranks: int, ways: list[str], meeting: str) -> None:
    """One rank: every way in turn."""
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    for how in ways:
        check(how, rank, ranks)
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        # Forked, so that torch is loaded once.
        context = multiprocessing.get_context("fork")
        arguments = ranks, sys.argv[2:], f"{folder}/meeting"
        processes = [context.Process(target=run, args=(rank, *arguments)) for rank in range(ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    sys.exit(int(any(process.exitcode for process in processes)))
