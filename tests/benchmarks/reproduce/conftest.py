"""The small grid."""

from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def small_grid():
    """A grid of three methods and a sweep."""
    return Path(__file__).parent / "small.toml"


@pytest.fixture
def known_encoder(monkeypatch):
    """Units are named after an encoder that need not be here."""
    monkeypatch.setattr("benchmarks.reproduce.units.encoder_digest", lambda profile, bed=None: "0" * 64)
