"""Workers find the tasks of these tests on their path."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def tasks_on_the_path(monkeypatch):
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
