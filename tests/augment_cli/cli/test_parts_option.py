"""`--parts`: a Slurm array makes the parts of one stage, several processes at once, without a scheduler."""

import re
import subprocess
import sys

import pytest

from augment_cli.cli import load_commands
from augment_cli.contract.parameters import part_numbers
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.made_stores import store_of


@pytest.fixture
def store_path(tmp_path):
    store = store_of(tmp_path, [f"the heron of river {n}" for n in range(60)], part_rows=10)
    with Session(store.path, Engine(1)) as session:
        session.fit()
        session.augment(make_run("una", radius=5), "expected")
    return store.path


@pytest.mark.slow
def test_an_array_of_processes_at_once(store_path):
    """Overlapping ranges do no harm: both make the same bytes."""
    start = [sys.executable, "-m", "augment_cli", "una", "--radius", "5", "--store", store_path]
    running = [
        subprocess.Popen([*start, "--parts", parts], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for parts in ("0-1", "2,3", "1-4")
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    assert sorted(Store.open(store_path).stage("una").parts) == [0, 1, 2, 3, 4]
    with Session(store_path, Engine(1), shared=True) as session:
        session.augment(make_run("una", radius=5), parts={5})
    store = Store.open(store_path)
    assert store.read("una").equals(store.read("expected"))
    assert verify(store) == []


def test_other_settings_in_another_task_are_refused(store_path):
    with Session(store_path, Engine(1), shared=True) as late:
        late.store.begin("una", make_run("una", radius=7).settings(late.store))
        with Session(store_path, Engine(1), shared=True) as early:
            early.augment(make_run("una", radius=5), parts={0})
        late.store._stages["una"].parts.clear()
        with pytest.raises(MixError, match="another process makes it with other settings"):
            late.augment(make_run("una", radius=7), parts={1})


def test_corpus_and_fit_must_be_there(tmp_path, store_path):
    new = Session(tmp_path / "new", Engine(1), shared=True)
    with pytest.raises(UsageError, match="augment-cli ingest"), new:
        new.ingest()
    Store.open(store_path).remove("tfidf")
    unfitted = Session(store_path, Engine(1), shared=True)
    with pytest.raises(UsageError, match="augment-cli fit"), unfitted:
        unfitted.augment(make_run("una", radius=5), parts={0})


def test_part_numbers():
    for text, parts in (("0", {0}), ("0-3", {0, 1, 2, 3}), ("1,4-5, 7", {1, 4, 5, 7}), ("3-3", {3})):
        assert part_numbers(text) == parts
    for text in ("", "a", "1-", "-1", "1--2", "1,,2", "½", "9" * 30):
        with pytest.raises(UsageError, match="--parts"):
            part_numbers(text)


def test_a_task_says_in_a_line_what_it_made_and_what_is_missing(store_path, capsys, monkeypatch):
    monkeypatch.setattr("augment_cli.process.reporter.SECONDS_BETWEEN_LINES", 1e9)  # on a slow machine, too

    def task(parts):
        words = ["una", "--radius", "5", "--store", str(store_path), "--parts", parts]
        assert not load_commands()(words, prog_name="augment-cli", standalone_mode=False)
        return capsys.readouterr()

    said, line = task("0-3"), r"made in \d+\.\d s; 4 of 6 parts are there, still missing: 4-5"
    assert re.fullmatch(f"una: its parts are {line}\n", said.out) and said.err == ""
    said = task("4-7")  # tasks of four parts each: the last one has fewer
    assert said.out.endswith("; 6 of 6 parts are there, the stage is complete\n")
    assert said.err == "Note: --parts: 6 and higher are left out, as the last part is 5\n"
    assert task("0-3").out.startswith("una: its parts were there already; 6 of 6")
    refused = pytest.raises(UsageError, match="no part 6; numbers start at 0, and the last one here is 5")
    with Session(store_path, Engine(1), shared=True) as session, refused:
        session.augment(make_run("una", radius=5), parts={6, 7})
