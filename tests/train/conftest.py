"""A tiny store with every kind of column, made once."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.commands import typed
from tests.helpers.made_stores import add_texts, store_of
from tests.helpers.tiny_encoders import SENTENCES
from tests.helpers.vector_stages import KnownPairs
from train.additions import find
from train.additions.base import GlobalBatch, Row
from train.loading import make_recipe


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


def make_store(folder, texts, part_rows=40):
    """A store of the texts with the stages `una`, `una.1`, `aa` and `pi`; each leaves some rows unchanged."""
    store = store_of(folder, texts, part_rows=part_rows)
    with store.lock():
        for name, word, every in [
            ("una", "zebra", 3),
            ("una.1", "quartz", 3),
            ("aa", "does", 2),
            ("pi", "!", 5),
        ]:
            add_texts(
                store, name, lambda n, text, word=word, every=every: f"{word} {text}" if n % every else None
            )
    return store.path


@pytest.fixture(scope="session")
def tiny_store(tmp_path_factory):
    """150 rows in four parts; two texts are equal."""
    return make_store(tmp_path_factory.mktemp("stores"), [*SENTENCES[:149], SENTENCES[3]])


@pytest.fixture
def store_copy(tiny_store, tmp_path):
    """The tiny store, to damage or to add to."""
    return Path(shutil.copytree(tiny_store, tmp_path / "store"))


@pytest.fixture(scope="session")
def build_store():
    """`make_store`, for tests that need a store of their own."""
    return make_store


@pytest.fixture
def ended():
    """Run the command in this process: its exit code, and what it printed."""

    def run(*words):
        done = typed("train", *words)
        return done.returncode, done.stdout + done.stderr

    return run


class Shape:
    """What an addition wants to know of a model when it makes its layers."""

    def __init__(self, dimension=4, head_dimension=4, encoder=None, seed=1):
        self.dimension, self.head_dimension, self.encoder = dimension, head_dimension, encoder
        self.dtype = torch.float64
        self.recipe = make_recipe({"seed": seed})


@pytest.fixture(scope="session")
def make_addition():
    """An addition of a name and settings, in float64, with its layers drawn from a fixed seed."""

    def make(name, model=None, **settings):
        kind = find(name)
        torch.manual_seed(5)
        return kind(kind.settings_class(**settings), model or Shape()).double()

    return make


@pytest.fixture(scope="session")
def make_batch():
    """A gathered batch of float64 vectors; `texts` default to all different."""

    def make(embeddings, z=None, texts=None, labels=None, own=slice(2, 3), head=None, step=0, tau=0.5):
        embeddings = torch.as_tensor(embeddings)
        rows, views = embeddings.shape[:2]
        if texts is None:
            texts = torch.arange(rows * views).reshape(rows, views)
        if labels is None:
            labels = torch.zeros(rows, 0, dtype=torch.int64)
        z = embeddings if z is None else torch.as_tensor(z)
        head = head or (lambda vectors: vectors)
        return GlobalBatch(
            step, torch.as_tensor(texts), torch.as_tensor(labels), own, embeddings, z, head, tau, True
        )

    return make


@pytest.fixture(scope="session")
def taught(make_addition, make_batch):
    """An addition that reads cached vectors, and a batch whose rows have the given ones."""

    def make(name, z, teacher, texts, settings, recipe=None, first=1, tau=0.5):
        host = Shape()
        host.recipe = make_recipe(recipe or {})
        addition = make_addition(name, host, **settings)
        addition.vectors = KnownPairs(teacher, first)
        labels = torch.zeros(len(z), 3, dtype=torch.int64)
        labels[:, 0] = torch.arange(len(z))
        return addition, make_batch(z, texts=texts, labels=labels, tau=tau)

    return make


@pytest.fixture(scope="session")
def choose_views():
    """Views and labels that an addition chooses for one row, as lists."""

    def array(ids):
        return None if ids is None else np.array(ids)

    def choose(name, views, texts=None, row_id=0, epoch=0, seed=42, **settings):
        kind = find(name)
        chooser = kind.views(kind.settings_class(**settings), make_recipe({"seed": seed}))
        row = Row(
            row_id, epoch, [array(v) for v in views], lambda stage: array((texts or {}).get(stage)), (1, 1)
        )
        actual, labels = chooser.choose(row)
        assert len(actual) == len(views) + chooser.count
        assert len(labels) == chooser.labels
        return [None if v is None else v.tolist() for v in actual], labels

    return choose
