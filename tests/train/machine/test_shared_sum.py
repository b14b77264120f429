"""Sums in shared memory against gloo's own, over processes."""

import subprocess
import sys

import pytest

from tests.helpers.places import REPOSITORY

WORKER = """
import os, sys
import torch, torch.distributed as dist
from train.machine.shared_sum import SharedSum

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
if sys.argv[1] == "refused" and rank == ranks - 1:  # this one alone may not open the others' memory
    SharedSum._map = staticmethod(lambda place, file, total: None)
shared = SharedSum(rank, ranks)
for step, dtype in enumerate((torch.float32, torch.float64, torch.float32)):
    for size in (1, 3, 1000, 7, 5000):  # smaller and larger than the one before
        torch.manual_seed(100 * step + size + 10_000 * rank)
        parts = [torch.randn(size, 3, dtype=dtype), torch.randn(2, dtype=dtype), torch.randn(0, dtype=dtype)]
        before = [part.clone() for part in parts]
        actual = shared.sum(parts)
        assert all(map(torch.equal, parts, before))
        everyone = [torch.empty(3 * size + 2, dtype=dtype) for _ in range(ranks)]
        dist.all_gather(everyone, torch.cat([part.reshape(-1) for part in parts]))
        if sys.argv[1] == "shared":
            expected = everyone[0]
            for other in everyone[1:]:
                expected = expected + other
            assert torch.equal(actual, expected)
        else:
            torch.testing.assert_close(actual, sum(everyone))
        actual.zero_()  # the caller's own: changes nothing for the others
print(f"slots {len(shared._slots)}")
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    ("ranks", "how"), [(2, "shared"), pytest.param(3, "shared", marks=pytest.mark.slow), (2, "refused")]
)
def test_sums_are_those_of_gloo(tmp_path, ranks, how):
    (tmp_path / "worker.py").write_text(WORKER, encoding="utf-8")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    done = subprocess.run(
        [*launcher, str(tmp_path / "worker.py"), how], cwd=REPOSITORY, capture_output=True, text=True,
        timeout=300, check=False, env={"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"slots {ranks + 1 if how == 'shared' else 0}") == ranks
