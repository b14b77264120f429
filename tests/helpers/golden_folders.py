"""The golden folders, and the commands of the project run in a copy of one."""

import json
import shutil
from pathlib import Path

import pytest

from augment_cli.version import __version__
from tests.helpers.commands import Result, typed
from tests.helpers.places import REPOSITORY

GOLDEN = REPOSITORY / "tests/golden"
VERSIONS = sorted(path.parent.name for path in GOLDEN.glob("*/made.json"))
# What today's code writes is what most other tests read; the quick suite reads what is released.
TODAY = "unreleased" if "unreleased" in VERSIONS else __version__
PARAMS = [pytest.param(name, marks=[pytest.mark.slow] * (name == TODAY)) for name in VERSIONS]


def made(version: str) -> dict:
    """What a golden folder says of itself."""
    return json.loads((GOLDEN / version / "made.json").read_text("utf-8"))


@pytest.fixture(params=PARAMS)
def golden(request, tmp_path, monkeypatch):
    """A copy of each golden folder, in which commands are run; its name is the version."""
    folder = Path(shutil.copytree(GOLDEN / request.param, tmp_path / request.param))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def type_in(monkeypatch):
    """`type_in("train una --store store")` as typed in the folder that the test is in."""

    def run(line: str) -> Result:
        monkeypatch.setenv("COLUMNS", "400")
        return typed(*line.split())

    return run
