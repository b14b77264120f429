"""SIGKILL, SIGTERM and Ctrl-C at random moments of the command or a worker; then the same command again.

The end is always the bytes of an undisturbed run. The moment is when a random number of the parts have
appeared, and a random split second more.
"""

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.helpers.undisturbed import appeared, digests_of_parts

LINES = 1_600
PARTS = 1 + 16 + 1 + 16 + 1 + 2 * 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    rows = (f"the heron of river {n} waits near bridge {n % 70} at {n * n} o'clock\n" for n in range(LINES))
    (folder / "in.txt").write_text("".join(rows))
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    for command in commands("undisturbed", ["--jobs", "1"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    digests = digests_of_parts(folder / "undisturbed")
    assert len(digests) == PARTS
    return digests


def commands(store, options):
    start = [sys.executable, "-m", "augment_cli"]
    ingest = [*start, "ingest", "--corpus", "in.txt", "--part-rows", "100", "--store", store]
    return ingest, [*start, "una", "--radius", "5", "--draws", "2", "--store", store, *options]


def disturb(folder, store, options, draws, strike):
    """Run both commands, strike once at a random moment, return (exit code, stderr) of the struck one."""
    moment, pause = draws.randrange(PARTS), draws.random() * 0.1
    for command in commands(store, options):
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        while process.poll() is None:
            if appeared(folder / store, "*/*.parquet") >= moment:
                time.sleep(pause)
                strike(process)
                errors = process.communicate(timeout=60)[1]
                return process.returncode, errors.decode()
            time.sleep(0.005)
        process.communicate()
    return 0, ""


def finish_and_compare(folder, store, options, expected):
    for command in commands(store, options):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    assert digests_of_parts(folder / store) == expected
    assert verify(Store.open(folder / store)) == []


ENGINES = {"loky": ["--jobs", "2"], "threading": ["--jobs", "2", "--backend", "threading"]}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(SIGNALS))
@pytest.mark.parametrize("engine", list(ENGINES))
def test_the_command_is_struck(folder, expected, engine, name, seed):
    store = f"{engine}-{name}-{seed}"
    draws = random.Random(store)

    def strike(process):
        # As a terminal does, Ctrl-C goes to the workers too.
        if name == "SIGINT":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(SIGNALS[name])

    code, errors = disturb(folder, store, ENGINES[engine], draws, strike)
    if name == "SIGINT":
        assert code in (0, 130), errors
        assert "Traceback" not in errors or code == 0
    else:
        assert code in (0, -SIGNALS[name])
    finish_and_compare(folder, store, ENGINES[engine], expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_worker_is_struck_and_the_command_goes_on(folder, expected, name, seed):
    store = f"worker-{name}-{seed}"
    draws = random.Random(store)

    def strike(process):
        try:
            workers = [
                child
                for child in psutil.Process(process.pid).children(recursive=True)
                if "loky" in " ".join(child.cmdline()) and "tracker" not in " ".join(child.cmdline())
            ]
            if workers:
                draws.choice(workers).send_signal(SIGNALS[name])
        except psutil.NoSuchProcess:
            pass  # it has just ended

    code, errors = disturb(folder, store, ENGINES["loky"], draws, strike)
    assert code == 0, errors
    finish_and_compare(folder, store, ENGINES["loky"], expected)
