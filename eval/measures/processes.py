"""Worker processes of an evaluation: Ctrl-C is their parent's affair, and they end with it."""

from __future__ import annotations

import os
from typing import Any

from joblib import Parallel

from augment_cli.engine.backends import expect_successors, start_worker


def parallel(jobs: int, **options: Any) -> Parallel:
    """joblib's `Parallel` with such workers; one job runs in this very process."""
    if jobs == 1:
        return Parallel(n_jobs=1, **options)
    expect_successors()
    return Parallel(n_jobs=jobs, initializer=start_worker, initargs=(os.getpid(),), **options)
