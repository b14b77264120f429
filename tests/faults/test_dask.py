"""The same bytes on a Dask cluster of worker processes, also when a worker or the command is killed."""

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.helpers.cluster_runs import PARTS, check, finish, ingest, made_here, una, wait_for_parts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers, each a process of its own with a folder of its own."""
    folder = tmp_path_factory.mktemp("cluster")
    address_file = folder / "scheduler.json"
    start = [sys.executable, "-m", "dask"]
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--scheduler-file", str(address_file)]
    scheduler = subprocess.Popen([*start, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                  *options], **quiet)  # fmt: skip
    workers = subprocess.Popen([*start, "worker", "--nworkers", "2", "--nthreads", "1", "--no-dashboard",
                                "--host", "127.0.0.1", *options], **quiet)  # fmt: skip
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def expected(folder):
    return made_here(folder)


def on_cluster(address):
    return ["--backend", "dask", "--scheduler", address]


def test_same_bytes(cluster, folder, expected):
    ingest(folder, "whole")
    assert finish(una(folder, "whole", *on_cluster(cluster[0]))) == (0, "")
    check(folder, "whole", expected)


@pytest.mark.parametrize("seed", range(4))
def test_a_worker_is_killed_half_way(cluster, folder, expected, seed):
    address, nanny = cluster
    draws, store = random.Random(seed), f"worker-{seed}"
    ingest(folder, store)
    process = una(folder, store, *on_cluster(address))
    wait_for_parts(folder, store, draws.randrange(11, PARTS), process)
    children = psutil.Process(nanny).children(recursive=True)
    workers = [child for child in children if "spawn" in str(child.cmdline())]
    assert workers
    os.kill(draws.choice(workers).pid, signal.SIGKILL)
    assert finish(process)[0] == 0
    check(folder, store, expected)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("seed", range(2))
def test_the_command_is_killed_half_way(cluster, folder, expected, name, seed):
    draws, store = random.Random(f"{name}{seed}"), f"command-{name}-{seed}"
    ingest(folder, store)
    process = una(folder, store, *on_cluster(cluster[0]))
    wait_for_parts(folder, store, draws.randrange(11, PARTS), process)
    process.send_signal(getattr(signal, name))
    code, errors = finish(process)
    assert code in (0, 130 if name == "SIGINT" else -getattr(signal, name)), errors
    assert finish(una(folder, store, *on_cluster(cluster[0]))) == (0, "")
    check(folder, store, expected)
