"""A small store, with vectors and without, for the stages that make and read them."""

import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.vectors import embed
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.small_encoders import old_layout, plain_model
from tests.helpers.tiny_models import SENTENCES
from tests.helpers.vector_stages import FAST

__all__ = ["old_layout", "plain_model"]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(embed, "PIECE_ROWS", 8)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """60 sentences in three parts, a fifth of them twice, with an augmentation that leaves some unchanged."""
    folder = tmp_path_factory.mktemp("base")
    lines = [*SENTENCES[:50], *SENTENCES[5:15]]
    (folder / "in.txt").write_text("\n".join(lines) + "\n")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=25))
        session.fit()
        session.augment(make_run("antonym"))
        assert 10 < session.store.read("antonym")["text"].null_count < 50
    return folder / "store"


@pytest.fixture
def path(base, tmp_path):
    return shutil.copytree(base, tmp_path / "store")


@pytest.fixture(scope="session")
def encoder(model):
    return EmbedParameters(model=model("encoder"), **FAST)


@pytest.fixture(scope="session")
def embedded(base, tmp_path_factory, model):
    path = shutil.copytree(base, tmp_path_factory.mktemp("embedded") / "store")
    with Session(path, Engine(1)) as session, pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "PIECE_ROWS", 8)
        for stage in ("corpus", "antonym"):
            session.embed(stage, EmbedParameters(model=model("encoder"), **FAST))
    return path


@pytest.fixture
def vectors_path(embedded, tmp_path):
    return shutil.copytree(embedded, tmp_path / "store")


@pytest.fixture(scope="session")
def reranker(model, tmp_path_factory):
    import torch
    import transformers
    from sentence_transformers import CrossEncoder

    def folder(activation="Sigmoid", labels=1):
        path, base = tmp_path_factory.mktemp("reranker"), tmp_path_factory.mktemp("base-reranker")
        torch.manual_seed(2)
        config = transformers.AutoConfig.from_pretrained(model("encoder"), num_labels=labels)
        transformers.BertForSequenceClassification(config).save_pretrained(base)
        transformers.AutoTokenizer.from_pretrained(model("encoder")).save_pretrained(base)
        kind = getattr(torch.nn, activation)
        CrossEncoder(str(base), device="cpu", activation_fn=kind()).save_pretrained(str(path))
        return str(path)

    return folder
