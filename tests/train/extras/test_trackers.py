"""A tracker gets the log's numbers: a small module with the calls that both libraries have."""

import sys
from types import SimpleNamespace

import pytest

from augment_cli.errors import MissingError, UsageError
from tests.helpers.training import logged_run
from train.extras.trackers import Tracker
from train.loading import make_recipe


@pytest.fixture
def library(monkeypatch):
    """Stands for both libraries; keeps what was called."""
    calls = []

    def keep(name):
        return lambda *arguments, **named: calls.append((name, arguments, named))

    module = SimpleNamespace(init=keep("init"), log=keep("log"), finish=keep("finish"))
    for name in ("trackio", "wandb"):
        monkeypatch.setitem(sys.modules, name, module)
    return calls


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_a_run_is_tracked_offline(name, library, tiny_store, tiny_encoder, tmp_path):
    out = tmp_path / "runs" / "mine"
    _, events = logged_run(tiny_store, tiny_encoder, out, {"steps": 2, "tracker": name})
    assert [call[0] for call in library] == ["init", "log", "log", "finish"]
    begun = library[0][2]
    assert (begun["project"], begun["name"], begun["config"]["batch"]) == ("augment-cli", "runs/mine", 16)
    assert begun.get("mode") == ("offline" if name == "wandb" else None)
    assert begun.get("dir") == (str(out) if name == "wandb" else None)
    for (_, (numbers,), named), event in zip(library[1:3], events, strict=True):
        assert named == {"step": event["step"]}
        assert numbers == {
            f"step/{key}": value for key, value in event.items() if key not in ("event", "step")
        }


def test_only_numbers_are_tracked(library, tmp_path):
    Tracker("trackio", tmp_path, {}).write("dev", 3, {"note": "text"})
    assert [call[0] for call in library] == ["init"]


def test_a_library_that_is_not_installed_is_an_error_that_names_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(MissingError, match=r"^trackio is needed.*, or --set tracker=none"):
        Tracker("trackio", tmp_path, {})
    with pytest.raises(UsageError, match="tracker = 'tensorbord'; choose one of none, trackio, wandb"):
        make_recipe({"tracker": "tensorbord"})
