"""Run independent tasks in worker processes, and hand each result to the parent as it comes."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
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
        with _polite_interrupt() as asked_to_stop:
            # Tasks are drawn as workers become free: once asked to stop, no further one is begun.
            remaining = itertools.takewhile(lambda task: not asked_to_stop(), tasks)
            if jobs <= 1:
                for task in remaining:
                    done(call(function, task))
            else:
                self._run_in_processes(jobs, function, remaining, done)
            if asked_to_stop():
                raise KeyboardInterrupt

    @staticmethod
    def _run_in_processes(
        jobs: int, function: str, tasks: Iterable[dict[str, Any]], done: Callable[[Any], None]
    ) -> None:
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
            for result in pool(joblib.delayed(call_in_worker)(function, task) for task in tasks):
                done(result)
        except TerminatedWorkerError as error:
            raise IncompleteError(
                "a worker process died, most often for want of memory; finished parts are kept. Run the "
                "same command again to resume, with a smaller --jobs if memory was short"
            ) from error


@contextlib.contextmanager
def _polite_interrupt() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop after the running parts, the second one stops now."""
    asked = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: asked
        return

    def on_interrupt(signal_number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        print("\nFinishing the running parts; Ctrl-C again stops now.", file=sys.stderr, flush=True)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, previous)


def call_in_worker(function: str, arguments: dict[str, Any]) -> Any:
    """`call` in a worker process: its libraries keep to one thread, and Ctrl-C is the parent's affair."""
    for name, value in _THREAD_SETTINGS.items():
        os.environ.setdefault(name, value)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return call(function, arguments)


def call(function: str, arguments: dict[str, Any]) -> Any:
    """Import a function by its `module:name` and call it."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments)
