"""Making vectors in a store, and telling whether they are the same bytes."""

import numpy as np

from augment_cli.engine.engine import Engine
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file

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


def predicted(folder, pairs):
    """What sentence-transformers' own class says."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(folder, device="cpu")
    assert type(model.activation_fn).__name__ in ("Sigmoid", "Identity")
    return model.predict(pairs, show_progress_bar=False).tolist()
