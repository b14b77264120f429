"""Where calls run: joblib's worker processes or threads, a Dask or a Ray cluster. One function for each.

All have the same shape: they draw calls from an iterator as workers become free, and yield
(position of the call, its result) in the order of arrival.
"""

import contextlib
import dataclasses
import functools
import importlib
import importlib.metadata
import itertools
import os
import signal
import socket
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError, MixError, UsageError, needed

# Worker processes share the cores among themselves; each library keeps to one thread in them.
_THREAD_SETTINGS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_DEATHS_BEFORE_SINGLE = 2
_RETRIES = 2  # of a call whose worker died on a Ray cluster

Arguments = dict[str, Any]


def call(function: str, arguments: Arguments) -> Any:
    """Import a function by its `module:name` and call it."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments)


# What every stage is made with, whatever its settings name.
_OF_EVERY_STAGE = ("augment-cli", "numpy", "pyarrow")


def versions_of(calls: Sequence[Arguments]) -> dict[str, str]:
    """The versions that the settings in some calls name, and those of what every stage is made with."""
    versions: dict[str, str] = {}

    def walk(value: Any) -> None:
        if isinstance(libraries := getattr(value, "libraries", None), dict):
            versions.update(libraries)
        elif isinstance(value, dict | list | tuple):
            for item in value.values() if isinstance(value, dict) else value:
                walk(item)
        elif dataclasses.is_dataclass(value):
            walk(vars(value))

    for name in _OF_EVERY_STAGE:
        versions[name] = _installed(name)
    walk(calls[:1])  # all calls of a run have the same settings
    return versions


def call_elsewhere(function: str, arguments: Arguments, versions: Mapping[str, str]) -> Any:
    """Call a function on another machine, whose libraries must be those that its results are stamped with."""
    for name, version in versions.items():
        if (installed := _installed(name)) != version:
            raise MixError(
                f"worker {socket.gethostname()} (process {os.getpid()}) has {name} {installed}, and this "
                f"machine {version}, which its settings would name; install the same versions on all machines"
            )
    return call(function, arguments)


@functools.cache
def _installed(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def start_worker(parent: int) -> None:
    """What a worker process does first: its libraries keep to one thread, Ctrl-C is the parent's affair."""
    # It also ends with its parent: loky's own workers would outlive a killed one for minutes.
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


def expect_successors() -> None:
    """Say nothing where loky replaces a worker that has grown by 300 MB, as one does that loads a model."""
    # It warns in the thread that waits for results: where warnings are errors that thread ends, and the
    # results never come.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")


def run_in_processes(
    jobs: int,
    function: str,
    calls: Sequence[Arguments],
    asked_to_stop: Callable[[], bool],
    failed: Callable[[Arguments], None],
) -> Generator[Any, None, None]:
    """In joblib's worker processes; survives their death."""
    # joblib gives up as a whole when one of its workers dies. The calls not yet done are then run again in
    # a new pool. A call that was in flight when two pools died has a third one to itself; if that dies too,
    # the call is to blame: `failed` is called with it, and the rest goes on.
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    expect_successors()
    waiting = dict(enumerate(calls))
    deaths: Counter[int] = Counter()
    while waiting and not asked_to_stop():
        group = {
            index: arguments for index, arguments in waiting.items() if deaths[index] < _DEATHS_BEFORE_SINGLE
        }
        is_single = not group
        if is_single:
            index = next(iter(waiting))
            group = {index: waiting[index]}
        in_flight: set[int] = set()
        try:
            # At least two workers, since joblib would run a single one in this very process.
            pool = _parallel(max(2, jobs), "loky", initializer=start_worker, initargs=(os.getpid(),))
            with _interrupts_held_back():
                results = pool(_draw(function, group, asked_to_stop, in_flight, Path.cwd()))
            for index, result in results:
                del waiting[index]
                in_flight.discard(index)
                yield result
        except TerminatedWorkerError:
            deaths.update(in_flight)
            if is_single:
                for index in in_flight:
                    failed(waiting.pop(index))


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Within the `with` block a Ctrl-C waits for its end, or comes by another thread; none is lost."""
    # Processes and threads that are started in it inherit this, so a worker meets no Ctrl-C in the second
    # before `start_worker`, while it is loading Python, and the thread that replaces workers starts such
    # ones, too.
    from multiprocessing import resource_tracker

    # loky starts it with its first worker, and in Python 3.11 its start ends what is held back.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    """On the workers of a Dask cluster, which must see the store under the same path."""
    # Dask itself runs the calls of a dead worker again; one that has killed several is given up, then
    # `failed` is called with it.
    with needed("distributed"):
        from distributed import Client, KilledWorker, as_completed
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise MissingError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler` and workers with `dask worker ADDRESS`"
        ) from error
    with client:
        absolute, versions = _with_absolute_paths(calls), versions_of(calls)
        positions = iter(range(len(calls)))
        submitted: dict[Any, int] = {}

        def submit(count: int) -> list[Any]:
            futures = []
            for position in positions:
                future = client.submit(call_elsewhere, function, absolute[position], versions, pure=False)
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


def run_on_ray(
    address: str,
    needs_gpu: bool,
    function: str,
    calls: Sequence[Arguments],
    asked_to_stop: Callable[[], bool],
    failed: Callable[[Arguments], None],
) -> Generator[Any, None, None]:
    """On the workers of a Ray cluster, which must see the store under the same path."""
    # Ray itself runs the calls of a dead worker again; one that has killed several is given up, then
    # `failed` is called with it. With `needs_gpu` each call has a GPU to itself.
    ray = _connected_to_ray(address)
    places = int(ray.cluster_resources().get("GPU" if needs_gpu else "CPU", 0))
    if needs_gpu and not places:
        raise MissingError(
            f"--address {address}: no machine of this Ray cluster has a GPU; give --device cpu, or join one"
        )
    lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError)
    resources = {"num_gpus": 1} if needs_gpu else {"num_cpus": 1}
    task = ray.remote(call_on_ray).options(max_retries=_RETRIES, **resources)
    waiting = iter(zip(calls, _with_absolute_paths(calls), strict=True))
    versions = versions_of(calls)
    running: dict[Any, Arguments] = {}
    while True:
        if not asked_to_stop():
            for arguments, absolute in itertools.islice(waiting, 2 * max(1, places) - len(running)):
                running[task.remote(function, absolute, versions)] = arguments
        if not running:
            return
        for reference in ray.wait(list(running), num_returns=1, timeout=1)[0]:
            arguments = running.pop(reference)
            try:
                result = ray.get(reference)
            except lost:
                failed(arguments)
            except ray.exceptions.RayTaskError as error:  # has the worker's traceback for a message
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise MissingError(
                    f"--address {address}: the Ray cluster failed ({error}); once it is well again, run the "
                    "same command, which keeps finished parts"
                ) from error
            else:
                yield result


def call_on_ray(function: str, arguments: Arguments, versions: Mapping[str, str]) -> Any:
    """A call in one of Ray's workers, where each library keeps to one thread."""
    for name, value in _THREAD_SETTINGS.items():
        os.environ.setdefault(name, value)
    return call_elsewhere(function, arguments, versions)


def _connected_to_ray(address: str) -> Any:
    """Ray's module, connected to a cluster until this program ends, with its signals as they were."""
    with needed("ray"):
        ray = importlib.import_module("ray")
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"--address {address}: give that of the cluster's head node, such as head-node:6379")
    if ray.is_initialized():  # by an earlier stage, whose workers are warm, or by a notebook
        return ray
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        socket.create_connection((host, int(port)), timeout=10).close()  # Ray would try for minutes
        ray.init(address, logging_level="ERROR", log_to_driver=False, configure_logging=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise MissingError(
            f"--address {address}: no Ray cluster takes this machine ({error}); start one with `ray start "
            "--head` and join it from each machine, this one too, with `ray start --address ADDRESS`"
        ) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, on_terminate)
    return ray


def _with_absolute_paths(calls: Sequence[Arguments]) -> list[Arguments]:
    """The same calls for workers that run in folders of their own."""
    return [
        {key: value.absolute() if isinstance(value, Path) else value for key, value in arguments.items()}
        for arguments in calls
    ]
