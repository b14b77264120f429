"""The small grid."""

from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def small_grid():
    return Path(__file__).parent / "small.toml"
