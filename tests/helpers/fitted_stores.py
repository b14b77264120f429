"""A store fitted on the sample corpus, shared by the tests of all augmentations."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.session import SAMPLE, Session
from augment_cli.store.store import Store


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The sample corpus with its TF-IDF fit."""
    with Session(tmp_path_factory.mktemp("sample") / "store", Engine(1)) as session:
        session.ingest([SAMPLE])
        session.fit()
        return session.store


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory):
    """A function that fits a store on some sentences."""

    def fit(sentences: list[str]) -> Store:
        folder = tmp_path_factory.mktemp("fitted")
        (folder / "corpus.txt").write_text("\n".join(sentences) + "\n", "utf-8")
        with Session(folder / "store", Engine(1)) as session:
            session.ingest([folder / "corpus.txt"])
            session.fit()
            return session.store

    return fit
