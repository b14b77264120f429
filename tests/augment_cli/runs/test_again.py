"""The options that a stage's settings give, and that they make the stage again."""

import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.runs.again import options_of
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


def test_a_file_is_known_by_its_digest_alone(made_store, tmp_path):
    (tmp_path / "kept.txt").write_text("river\n")
    shutil.copytree(made_store, tmp_path / "store")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.augment(make_run("una", radius=3, keep=str(tmp_path / "kept.txt")), "kept")
    assert options_of(Store.open(tmp_path / "store").stage("kept").settings)[1] == ["keep"]
