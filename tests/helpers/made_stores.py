"""A small store with several parts of every stage, made once and copied for each test."""

import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store


def store_of(folder, lines, *runs, **reading):
    """A store of some lines, read as told, with augmentations by their names or as runs."""
    (folder / "in.txt").write_text("\n".join(lines) + "\n", "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(**reading), max_rejects=1)
        for run in runs:
            session.augment(make_run(run) if isinstance(run, str) else run)
        return session.store


@pytest.fixture(scope="session")
def made_store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    lines = [f"the river number {n} flows by house {n * n}" for n in range(60)]
    (folder / "in.txt").write_text("\n".join([*lines, "a\x00b", ""]))
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=20), max_rejects=1)
        session.augment(make_run("una", radius=4), draws=2)
    return folder / "store"


@pytest.fixture
def store(made_store, tmp_path):
    """A copy that a test may spoil."""
    shutil.copytree(made_store, tmp_path / "store")
    return Store.open(tmp_path / "store")
