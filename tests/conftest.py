"""Fixtures for every test: where the data folder is, and what to do where there is none."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers.places import REPOSITORY

# A shell that starts us in the background lets us ignore Ctrl-C, and so would every command we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A test may run a copy of the tree elsewhere, where the Makefile's ../shared/data would be another folder.
if os.environ.get("DATA"):
    os.environ["DATA"] = str(REPOSITORY / os.environ["DATA"])

# Tests assert no times, and a busy machine is no reason to fail.
# HYPOTHESIS_EXAMPLES=1000 looks harder.
settings.register_profile(
    "timeless",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "50")),
)
settings.load_profile("timeless")

# Fixtures that several folders use.
pytest_plugins = [
    "tests.helpers.commands",
    "tests.helpers.fitted_stores",
    "tests.helpers.made_stores",
    "tests.helpers.parsing_fixtures",
    "tests.helpers.small_models",
    "tests.helpers.tiny_encoders",
]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets (its layout is in docs/evaluation.md, section Data).

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
