"""SIGKILL, SIGTERM and Ctrl-C at random moments of the command or a worker; then the same command again.

The end is always the bytes of an undisturbed run. The moment is when a random number of the parts have
appeared, and a random split second more.
"""

import contextlib
import os
import random
import shutil
import signal
import time

import psutil
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import verify
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.cluster_runs import begin, begun, check, expected, finish, folder, una
from tests.helpers.undisturbed import appeared, digests_of_parts

__all__ = ["expected", "folder"]
pytestmark = pytest.mark.slow
ENGINES = {"loky": ["--jobs", "2"], "threading": ["--jobs", "2", "--backend", "threading"]}
FILES = "**/*.parquet"  # pieces too


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


@pytest.fixture(scope="module")
def others(pipeline, model, folder):
    """Commands that keep what was done in pieces, or all of it: (rows of a part, of the corpus, words)."""
    text = [f"The heron of river {number} waits.\n" for number in range(6_000)]
    (folder / "more.txt").write_text("".join(text[4_000:]))
    writer = ["--model", model("bart"), "--beams", "6", "--batch-tokens", "40", "--precision", "fp32"]
    writer += ["--device", "cpu", "--no-faithful", "--surprise", "0", "--candidates", "1"]
    commands = {
        "append": (100, 4_000, ["ingest", "--append", "--corpus", "more.txt", "--part-rows", "100"]),
        "parse": (2_000, 4_000, ["parse", "--jobs", "2", "--pipeline", pipeline]),
        "paraphrase": (75, 150, ["paraphrase", "--jobs", "2", *writer]),
    }
    for name, (part_rows, rows, _) in commands.items():
        (folder / f"{name}.txt").write_text("".join(text[:rows]))
        with Session(folder / name, Engine(1)) as session:
            session.ingest([folder / f"{name}.txt"], IngestOptions(part_rows=part_rows))
    return {name: [*map(str, words)] for name, (_, _, words) in commands.items()}


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("command", ["append", "parse", "paraphrase"])
def test_other_commands_are_struck_and_keep_what_was_done(folder, others, command, name):
    whole, store, number = f"{command}-whole", f"{command}-{name}", getattr(signal, name)
    if not (folder / whole).exists():
        shutil.copytree(folder / command, folder / whole)
        assert finish(begin(folder, *others[command], "--store", whole))[0] == 0
    shutil.copytree(folder / command, folder / store)
    parts, files = (appeared(folder / store, pattern) for pattern in ("*/part-*.parquet", FILES))
    files += random.Random(store).randrange(1, 4)
    process = begin(folder, *others[command], "--store", store)
    while process.poll() is None and appeared(folder / store, FILES) < files:
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, number)
    code, errors = finish(process)
    assert code in (0, 130 if name == "SIGINT" else -number), errors
    assert "Traceback" not in errors or name != "SIGINT"
    # Pieces stay until their part is there; an append that was interrupted is taken back.
    assert (
        command == "append"
        or appeared(folder / store, FILES) >= files
        or appeared(folder / store, "*/part-*.parquet") > parts
    )
    assert finish(begin(folder, *others[command], "--store", store))[0] == 0
    assert digests_of_parts(folder / store) == digests_of_parts(folder / whole)
    assert verify(Store.open(folder / store)) == []
