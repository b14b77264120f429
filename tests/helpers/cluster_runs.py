"""A command with worker processes, here or on a cluster, and what must be there after it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.helpers.commands import in_a_process
from tests.helpers.undisturbed import appeared, digests_of_parts

PARTS = 1 + 10 + 1 + 10 + 1 + 2 * 10


def ingest(folder: Path, store: str) -> None:
    """Make a corpus of ten parts."""
    words = ("ingest", "--corpus", "in.txt", "--part-rows", "100", "--store", store)
    assert not in_a_process(*words, cwd=folder).returncode


def begin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "augment_cli", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def una(folder: Path, store: str, *options: str) -> subprocess.Popen[str]:
    """Start a command that fits and makes two draws."""
    words = ("una", "--radius", "5", "--draws", "2", "--background", "none", "--store", store)
    return begin(folder, *words, *options)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """(exit code, what it complained of)"""
    errors = process.communicate(timeout=240)[1]
    progress = ("No --corpus", "--radius 5 is", "tfidf:", "forms:", "una")
    complaints = [line for line in errors.splitlines() if not line.startswith(progress)]
    return process.returncode, "\n".join(complaints)


def check(folder: Path, store: str, expected: dict[str, str]) -> None:
    assert digests_of_parts(folder / store) == expected
    assert verify(Store.open(folder / store)) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, str]:
    rows = (f"the heron of river {n} waits near bridge {n % 70}\n" for n in range(1000))
    (folder / "in.txt").write_text("".join(rows))
    ingest(folder, "undisturbed")
    assert finish(una(folder, "undisturbed", "--jobs", "1")) == (0, "")
    digests = digests_of_parts(folder / "undisturbed")
    assert len(digests) == PARTS
    return digests


@contextlib.contextmanager
def dask_cluster(folder: Path, **environment: str) -> Iterator[tuple[str, int]]:
    """A scheduler and two workers of Dask, each a process of its own: (address, the nanny's process)."""
    address_file = folder / "scheduler.json"
    start = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(address_file)]
    scheduler = subprocess.Popen([*start, "scheduler", "--port", "0", *options], **quiet)
    workers = subprocess.Popen(
        [*start, "worker", "--nworkers", "2", "--nthreads", "1", *options],
        env=os.environ | environment,
        **quiet,
    )
    try:
        from distributed import Client

        deadline = time.monotonic() + 60
        while not address_file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        with Client(scheduler_file=str(address_file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, workers.pid
    finally:
        for process in (workers, scheduler):
            process.terminate()
        for process in (workers, scheduler):
            process.wait(timeout=30)


class Cluster(NamedTuple):
    """The options of a command that runs there, and the workers' processes."""

    options: list[str]
    workers: Callable[[], list[psutil.Process]]


def begun(folder: Path, store: str, options: list[str]) -> subprocess.Popen[str]:
    """A command at a random moment."""
    ingest(folder, store)
    process, draws = una(folder, store, *options), random.Random(store)
    number = draws.randrange(12, PARTS - 5)
    while process.poll() is None and appeared(folder / store, "*/*.parquet") < number:
        time.sleep(0.005)
    time.sleep(draws.random() * 0.1)
    return process


def test_same_bytes(cluster, folder, expected):
    ingest(folder, "whole")
    assert finish(una(folder, "whole", *cluster.options)) == (0, "")
    check(folder, "whole", expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_is_killed_half_way(cluster, folder, expected, seed):
    process, workers = begun(folder, f"worker-{seed}", cluster.options), cluster.workers()
    assert workers
    random.Random(seed).choice(workers).kill()
    code, errors = finish(process)
    assert code == 0, errors
    check(folder, f"worker-{seed}", expected)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_the_command_is_killed_half_way(cluster, folder, expected, name):
    process, number = begun(folder, name, cluster.options), getattr(signal, name)
    process.send_signal(number)
    code, errors = finish(process)
    assert code in (0, 130 if name == "SIGINT" else -number), errors
    assert finish(una(folder, name, *cluster.options)) == (0, "")
    check(folder, name, expected)
