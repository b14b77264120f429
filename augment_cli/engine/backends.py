"""Where calls run: joblib's worker processes or threads, or a Dask cluster. One function for each.

All have the same shape: they draw calls from an iterator as workers become free, and yield
(position of the call, its result) in the order of arrival.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError

# Worker processes share the cores among themselves; each library keeps to one thread in them.
_THREAD_SETTINGS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_DEATHS_BEFORE_ALONE = 2

Arguments = dict[str, Any]


def call(function: str, arguments: Arguments) -> Any:
    """Import a function by its `module:name` and call it."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments)


def start_worker(parent: int) -> None:
    """What a worker process does first: its libraries keep to one thread, Ctrl-C is the parent's affair.

    It also ends with its parent: loky's own workers would outlive a killed one for minutes.
    """
    for name, value in _THREAD_SETTINGS.items():
        os.environ.setdefault(name, value)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _call_numbered(
    position: int, function: str, arguments: Arguments, folder: Path | None
) -> tuple[int, Any]:
    if folder is not None:  # a pool may be older than its parent's last change of folder
        os.chdir(folder)
    return position, call(function, arguments)


def run_here(
    function: str, calls: Sequence[Arguments], asked_to_stop: Callable[[], bool]
) -> Generator[Any, None, None]:
    """One call after the other, in this process."""
    for arguments in calls:
        if asked_to_stop():
            return
        yield call(function, arguments)


def run_in_threads(
    jobs: int, function: str, calls: Sequence[Arguments], asked_to_stop: Callable[[], bool]
) -> Generator[Any, None, None]:
    """In threads of this process: for stages whose model should be in memory once."""
    drawn = _draw(function, dict(enumerate(calls)), asked_to_stop, set())
    for _, result in _parallel(jobs, "threading")(drawn):
        yield result


def run_in_processes(
    jobs: int,
    function: str,
    calls: Sequence[Arguments],
    asked_to_stop: Callable[[], bool],
    failed: Callable[[Arguments], None],
) -> Generator[Any, None, None]:
    """In joblib's worker processes; survives their death.

    joblib gives up as a whole when one of its workers dies. The calls not yet done are then run
    again in a new pool. A call that was in flight when two pools died runs alone in a third; if that
    one dies too, the call is to blame: `failed` is called with it, and the rest goes on.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # loky gives a worker that has grown by 300 MB, as one does that loads a model, a successor, and warns in
    # the thread that waits for results: where warnings are errors it ends, and the results never come.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
    waiting = dict(enumerate(calls))
    deaths: Counter[int] = Counter()
    while waiting and not asked_to_stop():
        group = {
            index: arguments for index, arguments in waiting.items() if deaths[index] < _DEATHS_BEFORE_ALONE
        }
        is_alone = not group
        if is_alone:
            index = next(iter(waiting))
            group = {index: waiting[index]}
        in_flight: set[int] = set()
        try:
            # At least two workers, since joblib would run a single one in this very process.
            pool = _parallel(max(2, jobs), "loky", initializer=start_worker, initargs=(os.getpid(),))
            for index, result in pool(_draw(function, group, asked_to_stop, in_flight, Path.cwd())):
                del waiting[index]
                in_flight.discard(index)
                yield result
        except TerminatedWorkerError:
            deaths.update(in_flight)
            if is_alone:
                for index in in_flight:
                    failed(waiting.pop(index))


def _draw(
    function: str,
    calls: dict[int, Arguments],
    asked_to_stop: Callable[[], bool],
    in_flight: set[int],
    folder: Path | None = None,
) -> Generator[Any, None, None]:
    """Calls as joblib draws them, when a worker becomes free; none any more once asked to stop."""
    import joblib

    for index, arguments in calls.items():
        if asked_to_stop():
            return
        in_flight.add(index)
        yield joblib.delayed(_call_numbered)(index, function, arguments, folder)


def _parallel(jobs: int, backend: str, **options: Any) -> Any:
    import joblib

    return joblib.Parallel(
        n_jobs=jobs,
        backend=backend,
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch=jobs + 1,
        **options,
    )


def run_on_dask(
    scheduler: str,
    function: str,
    calls: Sequence[Arguments],
    asked_to_stop: Callable[[], bool],
    failed: Callable[[Arguments], None],
) -> Generator[Any, None, None]:
    """On the workers of a Dask cluster, which must see the store under the same path.

    Dask itself runs the calls of a dead worker again; one that has killed several is given up, then
    `failed` is called with it.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise MissingError(
            "--backend dask needs Dask, which is not installed; `pip install 'augment-cli[dask]'`"
        ) from None
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise MissingError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler` and workers with `dask worker ADDRESS`"
        ) from error
    with client:
        # Workers run in folders of their own.
        absolute = [
            {key: value.absolute() if isinstance(value, Path) else value for key, value in arguments.items()}
            for arguments in calls
        ]
        positions = iter(range(len(calls)))
        submitted: dict[Any, int] = {}

        def submit(count: int) -> list[Any]:
            futures = []
            for position in positions:
                future = client.submit(call, function, absolute[position], pure=False)
                submitted[future] = position
                futures.append(future)
                if len(futures) >= count:
                    break
            return futures

        threads = sum(client.nthreads().values()) or 1
        completed = as_completed(submit(2 * threads))
        for future in completed:
            position = submitted.pop(future)
            if not asked_to_stop():
                completed.update(submit(1))
            try:
                result = future.result()
            except KilledWorker:
                failed(calls[position])
                continue
            yield result
