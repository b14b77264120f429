"""The small grid."""

from pathlib import Path

import pytest


@pytest.fixture
def small_grid():
    """A grid of three methods and a sweep."""
    return Path(__file__).parent / "small.toml"
