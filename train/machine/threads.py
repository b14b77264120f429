"""Settings of the machine that decide speed: threads, the compiler."""

from __future__ import annotations

import os
import shutil
import sys

import torch

from augment_cli.errors import MissingError


def set_threads(threads: int, ranks_here: int = 1) -> int:
    """Set torch's threads."""
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
