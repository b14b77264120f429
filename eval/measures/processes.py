"""Worker processes of an evaluation: Ctrl-C is their parent's affair, and they end with it."""

import os
from typing import Any

from joblib import Parallel

from augment_cli.engine.backends import expect_successors, start_worker

_PAYS = 10.0  # seconds of work; less is done before processes have loaded their libraries


def parallel(jobs: int, seconds: float, **options: Any) -> Parallel:
    """joblib's `Parallel` with such workers; one job, or work of a few seconds, runs in this very process."""
    # `seconds`: roughly what all of it takes one idle core.
    if jobs == 1 or seconds < _PAYS:
        return Parallel(n_jobs=1, **options)
    expect_successors()
    return Parallel(n_jobs=jobs, initializer=start_worker, initargs=(os.getpid(),), **options)
