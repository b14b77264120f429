"""The campaign itself: large enough, counted among the promises, and every kind of fault is found."""

import re
import shutil
from dataclasses import replace

import pytest

from augment_cli.errors import BadInputError
from augment_cli.process import exit_codes
from augment_cli.store.store import Store
from tests.helpers.attack_runs import DISTURBANCES, FOLDER, Case, attack, cases, counts, files
from tests.helpers.attack_ways import WAYS
from tests.helpers.places import REPOSITORY

PROMISES = (REPOSITORY / "benchmarks/results/promises.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PROMISES.splitlines() if line.startswith("| ")][1:]


def test_it_has_at_least_1500_cases_and_all_can_be_run():
    every = [case for name in files() for case in cases(name)]
    assert len(every) >= 1_500
    assert len({str(case) for case in every}) == len(every)
    for case in every:
        assert case.how in (*WAYS, *DISTURBANCES), case
        assert case.exit and (case.at or case.how in ("nothing", *DISTURBANCES)), case
        # Whatever end is right, it has no traceback, loses nothing, and commands no terminal.
        assert 1 not in case.exit and set(case.exit) <= {0, 2, 3, 4, 5, 6, 130}, case
        re.compile(case.words)


def test_every_file_of_attacks_is_run():
    tests = {path.stem.removeprefix("test_") for path in FOLDER.glob("test_*.py")}
    assert tests - {"campaign"} == set(files())


def test_the_table_of_promises_has_the_numbers():
    found = counts()
    for promise in found:
        assert sum(row[0].startswith(promise) for row in ROWS) == 1, f"{promise!r} begins no row, or several"
    for row in ROWS:
        tried = sum(number for promise, number in found.items() if row[0].startswith(promise))
        assert row[2] == (f"{tried:,}" if tried else "–"), (
            f"{row[0]}: {row[2]} stands there, {tried:,} are tried"
        )


@pytest.fixture
def home(made_store, tmp_path):
    (tmp_path / "subject").mkdir()
    (tmp_path / "subject/.subject").touch()
    shutil.copytree(made_store, tmp_path / "subject/store")
    return tmp_path / "subject"


PLANTED = Case("planted-1.0", "", "store", "nothing", "", "", "status", (0,), "", "", 1)


def case_of(**changes):
    return replace(PLANTED, **changes)


DAMAGED = {"how": "cut", "at": "store/una/part-00001.parquet", "value": 0.5, "run": "verify", "exit": (4,)}


def test_what_is_met_well_has_no_problems(home, tmp_path):
    assert attack(case_of(), home, tmp_path / "1") == []
    assert attack(case_of(**DAMAGED, words="part-00001"), home, tmp_path / "2") == []


def unpickled(path):
    import pickle

    return pickle.loads((path / "manifest.json").read_bytes())


@pytest.mark.parametrize(
    ("planted", "changes", "problem"),
    [
        ((Store, "open", lambda path: {}["planted"]), {"exit": (0, 1)}, "Traceback"),
        ((BadInputError, "exit_code", 3), DAMAGED, "exit 3 instead of (4,)"),
        ((), DAMAGED | {"words": "part-00002"}, "says nothing of 'part-00002'"),
        (
            (exit_codes, "visible", str),
            {"run": "status --store '\x1b[31m'", "exit": (4,)},
            "U+001B reaches the terminal",
        ),
        (
            (Store, "open", unpickled),
            {"how": "pickled", "at": "store/manifest.json", "exit": (0, 1, 4)},
            "a pickle was run",
        ),
    ],
)
def test_what_is_met_badly_is_found(home, tmp_path, monkeypatch, planted, changes, problem):
    if planted:
        monkeypatch.setattr(*planted)
    found = attack(case_of(**changes), home, tmp_path)
    assert any(line.startswith(problem) for line in found), found


@pytest.mark.parametrize(("do", "word"), [("unlink", "lost"), ("touch", "changed")])
def test_a_lost_or_changed_part_is_found(home, tmp_path, monkeypatch, do, word):
    opened = Store.open

    def spoil(path):
        part = opened(path).part_path("una", 0)
        part.unlink() if do == "unlink" else part.write_bytes(part.read_bytes() + b"x")
        return opened(path)

    monkeypatch.setattr(Store, "open", spoil)
    problems = attack(case_of(exit=(0, 3, 4)), home, tmp_path)
    assert problems == [f"store/una/part-00000.parquet is {word}"]


def test_a_command_without_end_is_found(home, tmp_path, monkeypatch):
    import time

    monkeypatch.setattr("tests.helpers.attack_runs._PATIENCE", 1)
    monkeypatch.setattr(Store, "open", lambda path: time.sleep(30))
    problems = attack(case_of(exit=(0, 1)), home, tmp_path)
    assert any("it never ended" in problem for problem in problems)
