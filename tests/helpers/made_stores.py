"""Small stores: made once and copied, fitted on the sample, with a known defect, with hostile text."""

import dataclasses
import shutil
import sys

import numpy as np
import pyarrow as pa
import pytest

from augment_cli import augmentations
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.pages.layout import word_edits
from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE, Session, Silent
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.text.spans import EditList


class Told(Silent):
    """A reporter that keeps what it is told."""

    def __init__(self):
        self.said, self.warnings = [], []

    def say(self, message):
        self.said.append(message)

    def warn(self, message):
        self.warnings.append(message)


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
    """Write a stage or draw of `text_of(row, original)`, None for an unchanged row; the lock is held."""
    maker, _, draw = name.partition(".")
    settings = Settings(maker, 1, {"draw": int(draw or 0)}, 42)
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


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    with Session(tmp_path_factory.mktemp("sample") / "store", Engine(1)) as session:
        session.ingest([SAMPLE])
        session.fit()
        return session.store


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory):

    def fit(sentences: list[str]) -> Store:
        folder = tmp_path_factory.mktemp("fitted")
        (folder / "corpus.txt").write_text("\n".join(sentences) + "\n", "utf-8")
        with Session(folder / "store", Engine(1)) as session:
            session.ingest([folder / "corpus.txt"])
            session.fit()
            return session.store

    return fit


HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; the \u202e river \x1b flows by {{ house }}"
)


def made(folder, lines, **parameters):
    return store_of(folder, lines, make_run("una", **parameters))


def hostile_store(folder):
    """A store whose sentences are markup, templates and marks that turn the direction of text."""
    lines = [HOSTILE.replace("\x1b", "")] * 3 + [f"the river {n} flows" for n in range(30)] + ["a\x1bb"]
    return made(folder, lines, radius=4)


def spoil(monkeypatch, name, change):
    """Let an augmentation make `change(text)` of each text, until the test ends."""

    def run(rows):
        edits = EditList()
        for row, text in enumerate(rows.texts.to_pylist()):
            for edit in word_edits(text, change(text)):
                place = [np.array([value]) for value in (row, edit["start"], edit["end"])]
                edits.replace(*place, [edit["replacement"]], np.zeros(1, np.int64))
        return Outcome(edits.edits(), np.full(len(rows), Reason.NO_TOKEN, object))

    descriptor = augmentations.get(name)
    module, constant = _place_of(descriptor)
    spoilt = dataclasses.replace(descriptor, prepare=lambda parameters, resources: run, columns=())
    monkeypatch.setattr(module, constant, spoilt)


def _place_of(descriptor):
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("augment_cli.augmentations"):
            for constant, value in vars(module).items():
                if value is descriptor and constant.isupper():
                    return module, constant
    raise LookupError(descriptor.name)
