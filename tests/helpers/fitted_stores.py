"""A store fitted on the sample corpus, shared by the tests of all augmentations."""

from pathlib import Path

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.session import Session
from augment_cli.store.store import Store


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The sample corpus with its TF-IDF fit."""
    with Session(tmp_path_factory.mktemp("sample") / "store", Engine(1)) as session:
        session.ingest()
        session.fit()
        return session.store


@pytest.fixture(scope="session")
def parsed_sample_store(sample_store: Store) -> Store:
    """The same with its parses, by the shipped pipeline; some 4 s of CPU time, so only where it is used."""
    with Session(sample_store.path, Engine(1)) as session:
        session.parse()
        return session.store


@pytest.fixture
def fitted(tmp_path: Path):
    """A function that fits a store on some sentences."""

    def fit(sentences: list[str]) -> Store:
        (tmp_path / "corpus.txt").write_text("\n".join(sentences) + "\n", "utf-8")
        with Session(tmp_path / "store", Engine(1)) as session:
            session.ingest([tmp_path / "corpus.txt"])
            session.fit()
            return session.store

    return fit
