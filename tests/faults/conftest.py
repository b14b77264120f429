"""The corpus of these tests, and the bytes that an undisturbed run of all writers leaves."""

import tempfile
from pathlib import Path

import pytest

from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.helpers.undisturbed import LINES, contents, run_all


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.txt"
    path.write_bytes("\n".join(LINES).encode() + b"\na\x00b\n")
    return path


@pytest.fixture(scope="session")
def expected(corpus_file, tmp_path_factory):
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    run_all(store, corpus_file)
    assert verify(Store.open(store)) == []
    return contents(store)


@pytest.fixture
def memory_folder():
    """A folder in memory where there is one: thousands of fsyncs cost nothing there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
