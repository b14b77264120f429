"""Vectors in a store, as `augment-cli embed` writes them, and whether they are the same bytes."""

from functools import cache

import numpy as np
import torch

from augment_cli.engine.engine import Engine
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.journal import Journal
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.stages import as_column, vectors_name, vectors_schema

FAST = {"precision": "fp32", "device": "cpu"}


def make(path, encoder, stage="corpus", jobs=1, **options):
    with Session(path, Engine(jobs, **options)) as session:
        session.embed(stage, encoder)
        return session.store


def digests(path, stage):
    return [sha256_of_file(part) for part in sorted((path / stage).glob("*.parquet"))]


def units(store, stage):
    return [
        None if value is None else np.array(value, np.float64) / np.linalg.norm(np.array(value, np.float64))
        for value in store.read(stage)["vector"].to_pylist()
    ]


class Died(BaseException):
    """The process is gone: nothing catches this."""


_WRITE = Journal.write


def die_after(monkeypatch, pieces):
    """Let the process "die" before the piece after this many is kept, with −1 never; those that are kept."""
    kept = []

    def write(self, index, piece, table):
        if len(kept) == pieces and piece != "plan":
            raise Died
        _WRITE(self, index, piece, table)
        if piece != "plan":
            kept.append((index, piece, table.num_rows))

    monkeypatch.setattr(Journal, "write", write)
    return kept


@cache
def cross_encoder(folder):
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(folder, device="cpu")
    assert type(model.activation_fn).__name__ in ("Sigmoid", "Identity")
    return model


def predicted(folder, pairs):
    """What sentence-transformers' own class says."""
    return cross_encoder(folder).predict(pairs, show_progress_bar=False).tolist()


def add_vectors(folder, of, vectors, name=None, model="m"):
    """Write a stage of vectors, shape (rows, d); rows that are NaN have none."""
    store = Store.open(folder)
    settings = Settings(
        stage="vectors",
        version=1,
        inputs={of: store.stage(of).digest},
        resources={"model": model},
        parameters={"of": of, "pooling": "mean", "max_length": 32},
    )
    stage, schema = vectors_name(of, name), vectors_schema(vectors.shape[1])
    with store.lock():
        for part in store.begin(stage, settings):
            ids = store.read_part("corpus", part, ["row_id"])["row_id"]
            some = vectors[ids.to_numpy()]
            missing = np.isnan(some).any(axis=1)
            columns = [ids.combine_chunks(), as_column(np.nan_to_num(some), missing)]
            table = type(store.read_part("corpus", part, ["row_id"])).from_arrays(columns, schema=schema)
            store.commit(store.write_part(stage, part, schema, [table], settings))


class KnownPairs:
    """In place of `CachedVectors` of `train.methods.adapt.base_teacher`: vectors of views, (B, views, d).

    Row i of the batch has label i; its column c is view `first` + c.
    """

    def __init__(self, vectors, first=1):
        self.vectors = torch.nn.functional.normalize(torch.as_tensor(vectors), dim=-1)
        self.first = first

    def pairs(self, labels, real):
        anchors, others = self.vectors[labels[:, 0], 0], self.vectors[labels[:, 0], self.first + labels[:, 1]]
        return anchors * real[:, None], others * real[:, None]
