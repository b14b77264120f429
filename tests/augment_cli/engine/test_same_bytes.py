"""Parts are byte-identical for any --jobs, batch of parts, order, PYTHONHASHSEED, locale and folder."""

import os
import random
import subprocess
import sys

import pytest

from augment_cli.engine import backends
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file

LINES = [f"İstanbul's river {n} flows, Straße {n % 7}; it isn't {n * n}." for n in range(90)]


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.txt"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    return path


def make(path, corpus, engine, parts=None):
    with Session(path, engine) as session:
        session.ingest([corpus], IngestOptions(part_rows=20))
        session.fit()
        for chosen in parts or [None]:
            session.augment(make_run("una", radius=5), draws=2, parts=chosen)
    return digests(path)


def digests(path):
    return {str(part.relative_to(path)): sha256_of_file(part) for part in sorted(path.rglob("*.parquet"))}


@pytest.fixture(scope="session")
def expected(corpus_file, tmp_path_factory):
    parts = make(tmp_path_factory.mktemp("expected") / "store", corpus_file, Engine(1))
    assert len(parts) == 1 + 5 + 1 + 5 + 1 + 5 + 5
    return parts


@pytest.mark.parametrize(
    ("jobs", "backend"),
    [
        pytest.param(2, "loky", marks=pytest.mark.slow),
        pytest.param(3, "loky", marks=pytest.mark.slow),
        pytest.param(2, "threading", marks=pytest.mark.slow),
        pytest.param(3, "threading", marks=pytest.mark.slow),
    ],
)
def test_any_jobs(corpus_file, tmp_path, expected, jobs, backend):
    assert make(tmp_path / "store", corpus_file, Engine(jobs, backend)) == expected


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_parts(corpus_file, tmp_path, expected, seed, monkeypatch):
    def shuffled(function, calls, asked_to_stop):
        calls = list(calls)
        random.Random(seed).shuffle(calls)
        yield from (backends.call(function, arguments) for arguments in calls)

    monkeypatch.setattr(backends, "run_here", shuffled)
    assert make(tmp_path / "store", corpus_file, Engine(1)) == expected


def test_any_batch_of_parts(corpus_file, tmp_path, expected):
    assert make(tmp_path / "store", corpus_file, Engine(1), [{4}, {0, 3}, {1, 2}]) == expected


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONHASHSEED": "1", "LC_ALL": "C"}, marks=pytest.mark.slow),
        pytest.param(
            {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "OMP_NUM_THREADS": "7"}, marks=pytest.mark.slow
        ),
        pytest.param(
            {"PYTHONUTF8": "0", "LC_ALL": "POSIX", "PYTHONHASHSEED": "3", "TZ": "Asia/Kathmandu"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_any_environment_and_folder(corpus_file, tmp_path, expected, environment):
    elsewhere = tmp_path / "ein Ordner ü" / corpus_file.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(corpus_file.read_bytes())
    commands = [
        ["ingest", "--corpus", elsewhere.name, "--part-rows", "20", "--store", "../s"],
        ["una", "--radius", "5", "--draws", "2", "--store", "../s", "--jobs", "1"],
    ]
    for command in commands:
        subprocess.run(
            [sys.executable, "-m", "augment_cli", *command],
            cwd=elsewhere.parent,
            env=os.environ | environment,
            check=True,
            capture_output=True,
        )
    assert digests(tmp_path / "s") == expected
