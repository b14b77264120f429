"""Run independent tasks in worker processes, and hand each result to the parent as it comes."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from augment_cli.errors import IncompleteError

# Worker processes share the cores among themselves; each library keeps to one thread in them.
_THREAD_SETTINGS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Engine:
    """How tasks are run.

    Parameters
    ----------
    jobs : int
        Number of worker processes; 1 runs everything in this process. Results never depend on it.
    """

    jobs: int = 1

    @classmethod
    def for_this_machine(cls, jobs: int | None = None) -> Engine:
        """One worker for each core this process may use, unless told otherwise."""
        if jobs is None:
            jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return cls(jobs or 1)

    def run(self, function: str, tasks: Sequence[dict[str, Any]], done: Callable[[Any], None]) -> None:
        """Call a function once for each task, in any order.

        Parameters
        ----------
        function : str
            `package.module:name`, importable in a worker.
        tasks : sequence of dict
            Keyword arguments of each call.
        done : callable
            Called in this process with each result, in the order of arrival.

        Raises
        ------
        IncompleteError
            If a worker process died (most often for want of memory). Finished parts are kept.
        """
        jobs = min(self.jobs, len(tasks))
        if jobs <= 1:
            for task in tasks:
                done(call(function, task))
            return
        import joblib
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        try:
            pool = joblib.Parallel(
                n_jobs=jobs,
                backend="loky",
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch=jobs + 1,
            )
            for result in pool(joblib.delayed(call)(function, task) for task in tasks):
                done(result)
        except TerminatedWorkerError as error:
            raise IncompleteError(
                "a worker process died, most often for want of memory; finished parts are kept. Run the "
                "same command again to resume, with a smaller --jobs if memory was short"
            ) from error


def call(function: str, arguments: dict[str, Any]) -> Any:
    """Import and call a function; in a worker, before anything heavy is imported."""
    for name, value in _THREAD_SETTINGS.items():
        os.environ.setdefault(name, value)
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments)
