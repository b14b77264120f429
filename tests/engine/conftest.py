"""Workers find the tasks of these tests on their path."""

import os
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor


@pytest.fixture(autouse=True)
def tasks_on_the_path(monkeypatch):
    # Workers that an earlier test left waiting know nothing of the path.
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]))
