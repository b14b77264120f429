"""The switch of the fast ways, and what happens where a library has changed."""

import subprocess
import sys

import pytest
import torch

from augment_cli.neural import fast


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(fast, "_said", set())


def test_the_environment_and_the_setting_turn_it_off(monkeypatch):
    assert fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "0")
    assert not fast.is_on()
    fast.use(True)
    assert not fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "1")
    assert fast.is_on()
    monkeypatch.setattr(fast, "_wanted", True)
    fast.use(False)
    assert not fast.is_on()


def test_what_is_missing_is_said_once(capsys):
    assert fast.has("products", torch, "nn.Linear", "Tensor")
    assert fast.has("products", "torch.nn", "Linear")
    assert capsys.readouterr().err == ""
    assert not fast.has("products", torch, "nn.Linear", "nn.NoSuchLayer")
    assert not fast.has("products", "torch.no_such_module")
    assert not fast.has("attention", "torch.no_such_module", "forward")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("products: the library's own, slower code is used") and "NoSuchLayer" in first
    assert second.startswith("attention: ") and "no_such_module" in second


def test_the_variable_is_read_by_every_process():
    """It decides in a worker, too, which knows of nothing but its environment."""
    program = "from augment_cli.neural import fast; print(fast.is_on())"
    for value, expected in (("0", "False"), ("1", "True")):
        done = subprocess.run(
            [sys.executable, "-c", program], env={"AUGMENT_FAST": value}, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == expected
