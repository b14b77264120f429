"""The options that a stage's settings give, and that they make the stage again."""

import shlex

import msgspec
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.runs.again import command_of, options_of
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("una", {"radius": 3}),
        ("una", {"radius": 4, "background": "none", "include_self": True}),
        ("una", {"surface": "in-place", "radius": 3, "beta": "0.1"}),
        ("una", {"surface": "reference", "radius": 3}),
        ("una", {"avoid": "none", "radius": 3, "background": "none"}),
        ("random-swap", {"rate": 0.3}),
    ],
)
def test_they_make_the_stage_again(store, name, given):
    settings = make_run(name, **given).settings(store)
    options, files = options_of(settings.as_json())
    assert files == [] and options.items() >= {(key, given[key]) for key in given if key == "rate"}
    assert make_run(name, **options).settings(store).fingerprint == settings.fingerprint


def test_a_file_is_known_by_its_digest_alone(store, tmp_path):
    (tmp_path / "kept.txt").write_text("river\n")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", radius=3, keep=str(tmp_path / "kept.txt")), "kept")
    store.reload()
    assert options_of(store.stage("kept").settings)[1] == ["keep"]
    assert "--keep FILE" in command_of(store, "kept")


def test_a_shipped_file_that_is_the_default_is_no_file_of_ones_own(store, tmp_path):
    (tmp_path / "own.txt").write_text("A heron waits.\nA boat drifts.\n")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("random-sentence"))
        session.augment(make_run("random-sentence", sentences=str(tmp_path / "own.txt")), "own")
    store.reload()
    assert command_of(store, "random-sentence") == "augment-cli random-sentence"
    assert command_of(store, "own") == "augment-cli random-sentence --sentences FILE --name own"


@pytest.mark.parametrize(
    ("typed", "stage"),
    [
        ("una --radius 3 --background none --name plain", "plain"),
        ("una --radius 4 --draws 3 --seed 7 --name three", "three.2"),
        ("una --radius 4 --surface in-place --fit second --name of-second", "of-second"),
        ("word-deletion --rate 0.3 --name fewer", "fewer"),
    ],
)
def test_a_command_that_makes_a_stage_again(store, command, typed, stage):
    if "--fit" in typed:
        assert command("fit", "--min-df", 2, "--name", "second").returncode == 0
    assert command(*typed.split()).returncode == 0
    store.reload()
    fingerprint, again = store.stage(stage).settings["fingerprint"], shlex.split(command_of(store, stage))
    done = command("remove", stage)
    assert done.returncode == 0, done.stderr
    assert command(*again[1:]).returncode == 0
    assert Store.open(store.path).stage(stage).settings["fingerprint"] == fingerprint


def test_a_command_names_what_a_stage_does_not_know_the_place_of(made_store, monkeypatch):
    store = Store.open(made_store)
    settings = {
        "stage": "paraphrase",
        "seed": 42,
        "parameters": {"faithful": {"wordnet": "0" * 64}, "rows": 3, "draw": 0},
        "inputs": {"corpus": "1" * 64},
        "resources": {"model": "2" * 64},
    }
    stages = {"paraphrase": msgspec.structs.replace(store.stage("una"), settings=settings)}
    monkeypatch.setattr(Store, "stage", lambda self, name: stages[name])
    assert command_of(store, "paraphrase") == "augment-cli paraphrase --rows 3 --model FOLDER"
    settings["parameters"]["faithful"] = None
    assert command_of(store, "paraphrase") == "augment-cli paraphrase --rows 3 --no-faithful --model FOLDER"
    settings |= {
        "stage": "back-translate",
        "resources": {"forward model": "3" * 64, "backward model": "4" * 64},
    }
    settings["parameters"] = {}
    assert command_of(store, "paraphrase") == (
        "augment-cli back-translate --forward FOLDER --backward FOLDER --name paraphrase"
    )
