"""A failure or a kill at any moment of an append: the corpus as it was, or with all of the files."""

import itertools
import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.file_faults import ERRORS, failed_at
from tests.helpers.undisturbed import LINES, contents

ROWS = 20  # before; and as many after


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("append")
    for name in ("old", "new"):
        text = "\n".join(f"{line} on a {name} day" for line in LINES[:ROWS])
        (folder / f"{name}.txt").write_bytes(text.encode() + b"\na\x00b\n")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "old.txt"], IngestOptions(part_rows=8), max_rejects=1)
        session.augment(make_run("crop"))
    return folder


def append(store, files):
    """Append, then continue a stage: all that a user does."""
    with Session(store, Engine(1)) as session:
        session.append([files / "new.txt"], max_rejects=1)
        session.augment(make_run("crop"))


@pytest.fixture(scope="module")
def after(files):
    shutil.copytree(files / "store", files / "after")
    append(files / "after", files)
    assert verify(Store.open(files / "after")) == []
    return contents(files / "after")


def check_between(store):
    """The old rows or all of them, each part named by the manifest sound, and nothing half in."""
    opened = Store.open(store)
    assert opened.rows in (ROWS, 2 * ROWS)
    assert opened.has("corpus") and opened.has("rejects")
    assert opened.stage("rejects").rows == opened.rows // ROWS
    assert opened.read("corpus")["row_id"].to_pylist() == list(range(opened.rows))
    tolerated = ["left by an append that was interrupted", "lacks the parts", "run it again to resume"]
    tolerated.append(f"{opened.part_path('crop', 0).parent}/part-")  # made, and not yet entered
    assert [line for line in verify(opened) if not any(word in line for word in tolerated)] == []
    for index in opened.stage("crop").parts:
        opened.read_part("crop", index)


def fail_at(number, error, folder, files, after):
    store = folder / str(number)
    shutil.copytree(files / "store", store)
    faults, _ = failed_at(number, error, lambda: append(store, files))
    check_between(store)
    if number % 2:  # whatever writes next tidies up
        with Session(store, Engine(1)) as session:
            session.ingest()
        assert not any("interrupted" in line for line in verify(Store.open(store)))
        for name in ("corpus", "rejects"):
            assert len(list((store / name).iterdir())) == len(Store.open(store).stage(name).parts)
        check_between(store)
    append(store, files)
    assert contents(store) == after, faults.names[number - 1]
    shutil.rmtree(store)
    return faults.was_hit


@pytest.mark.parametrize(
    "error", [pytest.param(name, marks=[] if name == "crash" else pytest.mark.slow) for name in ERRORS]
)
def test_some_operations_of_an_append_fail(error, memory_folder, files, after):
    for number in range(1, 150, 15):
        fail_at(number, error, memory_folder, files, after)


@pytest.mark.slow
@pytest.mark.parametrize("error", list(ERRORS))
def test_every_operation_of_an_append_fails(error, memory_folder, files, after):
    for number in itertools.count(1):
        if not fail_at(number, error, memory_folder, files, after):
            break
    assert number > 80
