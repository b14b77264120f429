"""SIGKILL, SIGTERM and Ctrl-C at random moments of the command or a worker; then the same command again.

The end is always the bytes of an undisturbed run. The moment is when a random number of the parts have
appeared, and a random split second more.
"""

import contextlib
import os
import random
import signal
import time

import psutil
import pytest

from tests.helpers.cluster_runs import PARTS, check, finish, ingest, made_here, una, wait_for_parts

pytestmark = pytest.mark.slow
ENGINES = {"loky": ["--jobs", "2"], "threading": ["--jobs", "2", "--backend", "threading"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kills")


@pytest.fixture(scope="module")
def expected(folder):
    return made_here(folder)


def begun(folder, store, options):
    """A command at a random moment."""
    draws = random.Random(store)
    ingest(folder, store)
    process = una(folder, store, *options)
    wait_for_parts(folder, store, draws.randrange(11, PARTS), process)
    time.sleep(draws.random() * 0.1)
    return process


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_is_struck(folder, expected, engine, name, seed):
    store, number = f"{engine}-{name}-{seed}", getattr(signal, name)
    process = begun(folder, store, ENGINES[engine])
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        # As a terminal does, Ctrl-C goes to the workers too.
        os.killpg(process.pid, number) if name == "SIGINT" else process.send_signal(number)
    code, errors = finish(process)
    assert code in (0, 130 if name == "SIGINT" else -number), errors
    assert "Traceback" not in errors or code == 0
    assert finish(una(folder, store, *ENGINES[engine])) == (0, "")
    check(folder, store, expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_worker_is_struck_and_the_command_goes_on(folder, expected, name, seed):
    store = f"worker-{name}-{seed}"
    process = begun(folder, store, ENGINES["loky"])
    with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
        children = psutil.Process(process.pid).children(recursive=True)
        lines = {child: " ".join(child.cmdline()) for child in children}
        workers = [child for child, line in lines.items() if "loky" in line and "tracker" not in line]
        if workers:
            random.Random(store).choice(workers).send_signal(getattr(signal, name))
    code, errors = finish(process)
    assert code == 0, errors
    check(folder, store, expected)
