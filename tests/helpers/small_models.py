"""The small models, made once; and a store of a few dozen sentences."""

from collections.abc import Callable
from pathlib import Path

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from tests.helpers import tiny_models

MAKERS = {
    "pegasus": tiny_models.make_pegasus,
    "t5": tiny_models.make_t5,
    "bart": tiny_models.make_bart,
    "marian": lambda folder: tiny_models.make_marian(folder, 5),
    "marian-back": lambda folder: tiny_models.make_marian(folder, 6),
    "bert": tiny_models.make_bert,
    "roberta": tiny_models.make_roberta,
    "llama": tiny_models.make_llama,
    "llama-plain": lambda folder: tiny_models.make_llama(folder, None),
    "encoder": lambda folder: tiny_models.make_bert(folder, "BertModel"),
}


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """`model("t5")`: the folder of a small model, made at the first call."""
    base = tmp_path_factory.mktemp("models")

    def folder(kind: str) -> str:
        path = base / kind
        if not path.exists():
            MAKERS[kind](path)
        return str(path)

    return folder


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A store of 60 sentences in three parts."""
    (tmp_path / "in.txt").write_text("\n".join(tiny_models.SENTENCES) + "\n")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.txt"], IngestOptions(part_rows=25))
    return tmp_path / "store"
