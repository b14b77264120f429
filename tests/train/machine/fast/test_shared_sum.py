"""Sums in shared memory against gloo's own, over processes."""

import os
import subprocess
import sys

import pytest

from tests.helpers.places import REPOSITORY

WORKER = REPOSITORY / "tests" / "helpers" / "shared_sum_worker.py"


@pytest.mark.parametrize(
    ("ranks", "ways"),
    [
        (2, ("shared", "refused", "elsewhere", "apart")),
        pytest.param(3, ("shared", "elsewhere"), marks=pytest.mark.slow),
    ],
)
def test_sums_are_those_of_gloo(ranks, ways):
    done = subprocess.run(
        [sys.executable, str(WORKER), str(ranks), *ways],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = [f"{way} slots {ranks + 1 if way == 'shared' else 0}" for way in ways]
    assert sorted(done.stdout.splitlines()) == sorted(expected * ranks)
