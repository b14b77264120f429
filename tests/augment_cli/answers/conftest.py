"""What the tests of answers share: a small store of several parts."""

import pytest

from augment_cli import api
from augment_cli.answers import client
from tests.helpers.tiny_models import SENTENCES


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.0)


@pytest.fixture
def lines():
    return SENTENCES[:6]


@pytest.fixture
def part_rows():
    return 5


@pytest.fixture
def store(tmp_path, lines, part_rows):
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in lines))
    api.ingest_corpus(tmp_path / "in.txt", tmp_path / "store", part_rows=part_rows)
    return tmp_path / "store"


@pytest.fixture
def answers(store):
    return lambda stage="answers-paraphrase": api.open_store(store).read(stage).to_pylist()
