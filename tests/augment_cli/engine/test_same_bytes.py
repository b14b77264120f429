"""Parts are byte-identical for any --jobs, batch of parts, order, PYTHONHASHSEED, locale and folder."""

import random

import pytest

from augment_cli.engine import backends
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.undisturbed import digests_of_parts

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
    return digests_of_parts(path)


@pytest.fixture(scope="session")
def expected(corpus_file, tmp_path_factory):
    parts = make(tmp_path_factory.mktemp("expected") / "store", corpus_file, Engine(1))
    assert len(parts) == 1 + 5 + 1 + 5 + 1 + 5 + 5
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_any_jobs(corpus_file, tmp_path, expected, jobs, backend):
    assert make(tmp_path / "store", corpus_file, Engine(jobs, backend)) == expected


def test_any_order_of_parts(corpus_file, tmp_path, expected, monkeypatch):
    def shuffled(function, calls, asked_to_stop):
        calls = list(calls)
        random.Random(0).shuffle(calls)
        yield from (backends.call(function, arguments) for arguments in calls)

    monkeypatch.setattr(backends, "run_here", shuffled)
    assert make(tmp_path / "store", corpus_file, Engine(1)) == expected


def test_any_batch_of_parts(corpus_file, tmp_path, expected):
    assert make(tmp_path / "store", corpus_file, Engine(1), [{4}, {0, 3}, {1, 2}]) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "OMP_NUM_THREADS": "7"},
        {"PYTHONHASHSEED": "3", "LC_ALL": "POSIX", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "0"},
    ],
)
def test_any_environment_and_folder(corpus_file, tmp_path, expected, environment, process):
    elsewhere = tmp_path / "ein Ordner ü" / corpus_file.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(corpus_file.read_bytes())
    for words in (
        ["ingest", "--corpus", elsewhere.name, "--part-rows", "20"],
        ["una", "--radius", "5", "--draws", "2", "--jobs", "1"],
    ):
        done = process(*words, "--store", "../s", cwd=elsewhere.parent, **environment)
        assert done.returncode == 0, done.stderr
    assert digests_of_parts(tmp_path / "s") == expected
