"""Stages of vectors as `augment-cli embed` writes them, without an encoder."""

import numpy as np
import torch

from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.stages import as_column, vectors_name, vectors_schema


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
    """In place of `train.methods.adapt.vectors.CachedVectors`: vectors of a batch's views, (B, views, d).

    Row i of the batch has label i; its column c is view `first` + c.
    """

    def __init__(self, vectors, first=1):
        self.vectors = torch.nn.functional.normalize(torch.as_tensor(vectors), dim=-1)
        self.first = first

    def pairs(self, labels, real):
        anchors, others = self.vectors[labels[:, 0], 0], self.vectors[labels[:, 0], self.first + labels[:, 1]]
        return anchors * real[:, None], others * real[:, None]
