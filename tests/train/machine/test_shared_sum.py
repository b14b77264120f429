"""Sums in shared memory against gloo's own, over processes."""

import os
import subprocess
import sys

import pytest

from tests.helpers.places import REPOSITORY

WORKER = REPOSITORY / "tests" / "helpers" / "shared_sum_worker.py"


@pytest.mark.parametrize(
    ("ranks", "how"),
    [
        (2, "shared"),
        pytest.param(3, "shared", marks=pytest.mark.slow),
        (2, "refused"),
        (2, "elsewhere"),
        pytest.param(2, "apart", marks=pytest.mark.slow),
    ],
)
def test_sums_are_those_of_gloo(ranks, how):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [*launcher, str(WORKER), how], env=environment, cwd=REPOSITORY, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"slots {ranks + 1 if how == 'shared' else 0}") == ranks
