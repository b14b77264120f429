"""A small store with several parts of every stage, made once and copied for each test."""

import shutil

import pyarrow as pa
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
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


def add_texts(store, name, text_of):
    """Write a stage of `text_of(row, original)`, None for a row that stays unchanged; the lock is held."""
    settings = Settings(name, 1, {"draw": 0}, 42)
    counts = {"changed": 0, "edits": 0, "reasons": {}, "sums": {}}
    for index in store.begin(name, settings):
        rows = []
        for row in store.read_part("corpus", index, ["row_id", "text"]).to_pylist():
            new = text_of(row["row_id"], row["text"])
            edit = {"start": 0, "end": len(row["text"]), "replacement": new}
            changed = {"reason": "same_text", "edits": []} if new is None else {"edits": [edit]}
            rows.append({"row_id": row["row_id"], "text": new, **changed})
        table = pa.Table.from_pylist(rows, AUGMENTATION)
        store.commit(store.write_part(name, index, AUGMENTATION, [table], settings, counts))
