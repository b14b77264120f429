"""Work on parts in workers, in any order, until Ctrl-C; and the address space that this needs."""

import contextlib
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from augment_cli.engine import backends
from augment_cli.errors import IncompleteError, MissingError, UsageError

# Bytes; with less, libraries abort or fail while they are loaded or allocate their first buffers.
LEAST = 800_000_000
LEAST_FOR_PARSES = 2_500_000_000  # spaCy
LEAST_FOR_MODELS = 3_000_000_000  # PyTorch


def check_address_space(least: int = LEAST) -> None:
    """Refuse a limit under which Python's libraries would end the process without a word."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < least:
        raise MissingError(
            f"this shell allows {limit / 1e6:,.0f} MB of address space (`ulimit -v`), and at least "
            f"{least / 1e6:,.0f} MB are needed; raise the limit and run the same command again"
        )


def leave_without_address_space(program: str) -> None:
    """End the process with a line if a limit is lower than what is needed; else make do with it."""
    try:
        check_address_space(LEAST)
    except MissingError as error:
        print(f"{program}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        # Arrow's own allocator takes a gigabyte at once where it can, and leaves the others too little.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


BACKENDS = ("loky", "threading", "dask", "ray")


@dataclass(frozen=True)
class Engine:
    """How calls are run. Results never depend on it."""

    jobs: int = 1  # number of workers; 1 runs everything in this process
    backend: str = "loky"  # joblib's processes, joblib's threads, a Dask cluster, or a Ray cluster
    scheduler: str | None = None  # address of the Dask scheduler, such as `tcp://head-node:8786`
    address: str | None = None  # of the Ray cluster's head node, such as `head-node:6379`
    needs_gpu: bool = False  # whether a call needs a GPU, of which a Ray cluster gives each one its own
    jobs_by_default: bool = False  # neither jobs nor a backend was given; little work then takes one process

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise UsageError(f"--backend {self.backend}: choose one of {', '.join(BACKENDS)}")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise UsageError("--backend dask and --scheduler ADDRESS go together")
        if (self.backend == "ray") != (self.address is not None):
            raise UsageError("--backend ray and --address ADDRESS go together")

    @classmethod
    def for_this_machine(
        cls,
        jobs: int | None = None,
        backend: str = "loky",
        scheduler: str | None = None,
        address: str | None = None,
    ) -> "Engine":
        """One worker for each core this process may use, unless told otherwise."""
        jobs_by_default = jobs is None and backend == "loky"
        if jobs is None:
            jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return cls(jobs or 1, backend, scheduler, address, jobs_by_default=jobs_by_default)

    def run(
        self,
        function: str,
        calls: Sequence[dict[str, Any]],
        done: Callable[[Any], None],
        on_stop: Callable[[], object] = lambda: None,
        unit: str = "parts",
    ) -> None:
        """Call a function once with each set of arguments, in any order."""
        failed: list[dict[str, Any]] = []
        pace = _Pace(min(self.jobs, max(len(calls), 1)), unit)
        with _polite_interrupt(on_stop, pace.as_words) as asked_to_stop:
            with contextlib.closing(self._results(function, calls, asked_to_stop, failed.append)) as results:
                for result in results:
                    pace.done += 1
                    done(result)
            if asked_to_stop():
                raise KeyboardInterrupt
        if failed:
            names = ", ".join(f"{call.get('stage', function)} part {call.get('index')}" for call in failed)
            raise IncompleteError(
                f"{len(failed)} of {len(calls)} pieces of work killed every worker that tried them, most "
                f"often for want of memory ({names}); all others are done. Run the same command again "
                "to try these, with a smaller --jobs if memory was short"
            )

    def _results(
        self,
        function: str,
        calls: Sequence[dict[str, Any]],
        asked_to_stop: Callable[[], bool],
        failed: Callable[[dict[str, Any]], None],
    ) -> Generator[Any, None, None]:
        if self.scheduler is not None and calls:
            return backends.run_on_dask(self.scheduler, function, calls, asked_to_stop, failed)
        if self.address is not None and calls:
            return backends.run_on_ray(self.address, self.needs_gpu, function, calls, asked_to_stop, failed)
        jobs = min(self.jobs, len(calls))
        if jobs <= 1:
            return backends.run_here(function, calls, asked_to_stop)
        if self.backend == "threading":
            return backends.run_in_threads(jobs, function, calls, asked_to_stop)
        return backends.run_in_processes(jobs, function, calls, asked_to_stop, failed)


class _Pace:
    """How long a call takes, for a person who waits for the running ones."""

    def __init__(self, jobs: int, unit: str) -> None:
        self._jobs, self._unit = jobs, unit
        self._start = time.monotonic()
        self.done = 0

    def as_words(self) -> str:
        """What is finished, and how long that takes if the next calls take as long as those before."""
        if self._unit == "batches":
            return "the running batches, a few seconds each"
        seconds = time.monotonic() - self._start
        if not self.done:
            return f"the running {self._unit}, the first ones, begun {seconds:,.0f} s ago"
        rounds = 1 if self._jobs == 1 else 2  # with several workers a call or two are waiting already
        return f"the running {self._unit}, up to {rounds * self._jobs * seconds / self.done:,.0f} s"


@contextlib.contextmanager
def _polite_interrupt(on_stop: Callable[[], object], what: Callable[[], str]) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop after `what` is running, the second one stops now."""
    has_asked = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: has_asked
        return

    def on_interrupt(signal_number: int, frame: object) -> None:
        nonlocal has_asked
        if has_asked:
            raise KeyboardInterrupt
        has_asked = True
        on_stop()
        print(f"\nFinishing {what()}; Ctrl-C again stops now.", file=sys.stderr, flush=True)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: has_asked
    finally:
        signal.signal(signal.SIGINT, previous)
