"""Fixtures for every test: where the data folder is, and what to do where there is none."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from augment_cli.process.exit_codes import VARIABLES
from tests.helpers.places import REPOSITORY
from tests.helpers.properties import load_profile

# A shell that starts us in the background lets us ignore Ctrl-C, and so would every command we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A test may run a copy of the tree elsewhere, where the Makefile's ../shared/data would be another folder.
if os.environ.get("DATA"):
    os.environ["DATA"] = str(REPOSITORY / os.environ["DATA"])


def pytest_configure(config):
    """A quick suite tries each property on few examples."""
    load_profile(is_quick=config.option.markexpr == "not slow")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """The slow suite tries each of them on all."""
    if config.option.markexpr == "slow":
        for item in items:
            if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
                item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def _no_disk_is_waited_for():
    """No test cuts the power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def _nowhere(tmp_path_factory):
    """An empty folder to stand in, and one to call home."""
    return tmp_path_factory.mktemp("nowhere"), tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(_nowhere, monkeypatch):
    """No test depends on where it is run, on what lies there or on the user's settings, or leaves a file."""
    folder, home = _nowhere
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    for name in VARIABLES.keys() - {"DATA"}:  # which says where the tests' data are
        monkeypatch.delenv(name, raising=False)
    yield
    if left := sorted(path.name for path in folder.iterdir()):
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        pytest.fail(f"the test left files in the folder that it was run in: {', '.join(left)}")


# Fixtures that several folders use.
pytest_plugins = [
    "tests.helpers.commands",
    "tests.helpers.made_stores",
    "tests.helpers.golden_folders",
    "tests.helpers.tiny_pipeline",
    "tests.helpers.tiny_models",
    "tests.helpers.tiny_encoders",
]


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data sets (its layout is in docs/reference/evaluation.md, section Data).

    Taken from the environment variable DATA, which must then exist; without it, ../shared/data
    beside the checkout if it is there. Elsewhere the test is skipped and says so.
    """
    named = os.environ.get("DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"DATA={named} is not a folder; set DATA to the data folder or leave it unset")
    pytest.skip("no data folder: set DATA to run the tests that need real data")
