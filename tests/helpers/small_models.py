"""The small models, made once; and a store of a few dozen sentences."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import tiny_models
from tests.helpers.made_stores import store_of

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
    return store_of(tmp_path, tiny_models.SENTENCES, part_rows=25).path
