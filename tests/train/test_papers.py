"""A run under a paper's name says where its texts are not the paper's."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.made_stores import store_of
from train.cli import main
from train.extras.papers import unlike_paper
from train.loading import load_recipe
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import Run
from train.run import train

LINES = ["The keeper opened the heavy door.", "An old mill burned in 1901."] * 3


@pytest.mark.parametrize("name", ["aa", "dn"])
def test_sda_warns_of_the_default_mode_alone(tmp_path, name):
    store = store_of(tmp_path, LINES, "pi", name)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run(name, mode="paper"), f"{name}-paper")
        store = session.store

    def said(recipe, positives):
        return unlike_paper(load_recipe(recipe, [f"positives={positives}", "labels=kind"]), store)

    (warning,) = said("sda", name)
    assert "not SDA's" in warning and "augment-cli run sda --paper --store OTHER" in warning
    assert said("sda", f"{name}-paper") == said("sda", "pi") == said("sda", "self") == []
    assert said("paraphrase", name) == []


def test_the_log_of_a_run_says_it(tmp_path, tiny_encoder):
    store = store_of(tmp_path, LINES, "aa")
    changes = ["positives=aa", "labels=kind", "batch=4", "steps=1", "max_length=16", "evaluate_every=0"]
    train(Run(load_recipe("sda", changes), store.path, str(tiny_encoder), tmp_path / "run"), join())
    events = read_log(tmp_path / "run/log.jsonl")
    assert ["not SDA's" in event["message"] for event in events if event["event"] == "warning"] == [True]


@pytest.mark.parametrize(("recipe", "stage"), [("sda", "aa"), ("una", "una")])
def test_paper_refuses_the_shipped_texts_and_takes_the_papers(tmp_path, tiny_encoder, capsys, recipe, stage):
    own = {"aa": {"mode": "paper"}, "una": {"surface": "in-place", "radius": "4000"}}[stage]
    store = store_of(tmp_path, LINES, stage)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run(stage, **own), f"{stage}-paper")

    def run(name):
        column = {"sda": "positives", "una": "negatives"}[recipe]
        settings = [f"{column}={name}", "batch=4", "steps=1", "max_length=16", "evaluate_every=0"]
        where = ["--store", str(store.path), "--encoder", str(tiny_encoder), "--out", str(tmp_path / name)]
        with pytest.raises(SystemExit) as ended:
            main([recipe, "--paper", *where, "--set", *settings])
        return ended.value.code

    assert run(stage) == 2 and f"is not {recipe.upper()}'s" in capsys.readouterr().err
    assert run(f"{stage}-paper") == 0


def test_paper_is_for_three_recipes(capsys):
    with pytest.raises(SystemExit):
        main(["simcse", "--paper"])
    assert "none of una, sda, augcse" in capsys.readouterr().err
