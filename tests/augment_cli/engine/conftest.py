"""Workers find the functions of these tests where this process does: from the repository's root."""

import os

import pytest
from joblib.externals.loky import get_reusable_executor

from tests.helpers.places import REPOSITORY


@pytest.fixture(autouse=True)
def functions_on_the_path(monkeypatch):
    # Workers that an earlier test left waiting know nothing of the path.
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
