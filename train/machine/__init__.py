"""What depends on the machine; here a training process: what torch reads once, threads, signals to stop."""

import os
import shutil
import signal
import sys
from types import FrameType
from typing import Any

from augment_cli.errors import MissingError


def prepare() -> None:
    """Before the first import of torch: choose what makes training on CPUs faster, unless the user has."""
    # torch reads these once, while it is loaded; idle threads that spin take the core from others.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # Huge pages for tensors of megabytes (Linux): a tenth faster, and the same bits.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


def set_threads(threads: int, ranks_here: int = 1) -> int:
    """Set torch's threads."""
    import torch  # `prepare` comes before

    # OpenMP's threads spin while they wait for each other, so as many threads as cores may lose most of their
    # speed when a neighbour needs a core; by how much depends on machine and load, and no test here measures
    # it. Passive waiting (`OMP_WAIT_POLICY`) can cost what the second thread gains on small operations. On
    # two cores the default is therefore one thread, and two processes under torchrun use both cores.
    if not threads:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = max(1, cores // ranks_here - 1)
    torch.set_num_threads(threads)
    return threads


def check_compiler() -> None:
    """Check that `torch.compile` has a compiler to call."""
    name = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    if shutil.which(name) is None:
        raise MissingError(
            f"compile = true needs a C++ compiler, and there is no {name}; install it (apt-get install "
            "g++), name another in the variable CXX, or leave compile = false"
        )


class StopRequest:
    """Within the `with` block, SIGTERM or Ctrl-C asks for a checkpoint; a second one stops at once."""

    def __init__(self) -> None:
        self.signal = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopRequest":
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number
