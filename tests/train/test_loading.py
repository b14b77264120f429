"""Recipes: the shipped ones say what the papers say, wrong settings are named, components are found."""

import dataclasses
import re

import pytest
import torch

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.made_stores import store_of
from train import components, losses
from train.cli import main
from train.extras.papers import unlike_paper
from train.heads import make_head
from train.loading import RECIPES, load_recipe, make_recipe
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import Run
from train.recipe import Recipe
from train.run import train


@pytest.mark.parametrize("path", RECIPES.values(), ids=lambda path: path.stem)
def test_every_shipped_recipe_loads(path):
    recipe = load_recipe(path.stem)
    assert recipe.name == path.stem
    assert recipe.description


def test_the_papers_settings():
    simcse, ntxent, una = (load_recipe(name) for name in ("simcse", "simcse-ntxent", "una"))
    assert (simcse.loss, simcse.temperature) == ("info-nce", 0.05)
    assert (simcse.batch, simcse.learning_rate) == (64, 3e-5)
    assert (simcse.max_length, simcse.epochs, simcse.schedule, simcse.warmup_steps) == (32, 1, "linear", 0)
    assert (simcse.pooling, simcse.head) == ("cls", "tanh")
    assert (simcse.optimizer.clip, simcse.optimizer.weight_decay) == (1.0, 0.0)
    assert (una.loss, una.negatives, una.alpha) == ("nt-xent", ("una",), 5)
    # UNA's baseline differs from UNA in the negatives alone.
    same = ("negatives", "alpha", "name", "description")
    differing = {
        f.name for f in dataclasses.fields(Recipe) if getattr(una, f.name) != getattr(ntxent, f.name)
    }
    assert differing <= set(same)
    sda = load_recipe("sda")
    assert (sda.loss, sda.batch, sda.learning_rate, sda.evaluate_every) == ("info-nce", 128, 2e-5, 250)


def test_changes_on_top():
    recipe = load_recipe(
        "una", ["batch=128", "loss=nt-xent", "alpha = 3", "learning_rate=1", "positives=self,pi"]
    )
    assert (recipe.batch, recipe.alpha, recipe.learning_rate) == (128, 3, 1.0)
    assert recipe.positives == ("self", "pi")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("bathc=3", r"unknown setting 'bathc' \(did you mean batch\?\); known: name"),
        ("colour=3", "unknown setting 'colour'; known: name"),
        ("batch=many", "should be a whole number"),
        ("batch=0", "must be at least 1"),
        ("proportion=1.5", "must be at most 1"),
        ("window=15", "write 16 or more"),
        ("log_every=0", "must be at least 1"),
        ("checkpoint_every=0", "must be at least 1"),
        ("learning_rate=0", "must be above 0"),
        ("learning_rate=nan", "should be a finite number"),
        ("learning_rate=inf", "should be a finite number"),
        ("seed=-1", "must be at least 0"),
        ("workers=-1", "must be at least 0"),
        ("epochs=-1", "must be at least 0"),
        ("dropout=1.5", "from 0 to below 1"),
        ("dropout=-0.5", "from 0 to below 1"),
        ("betas=0.9", "should be a list"),
        ("betas=0.9,1.5", "two numbers"),
        ("betas=0.9,0.9,0.9", "two numbers"),
        ("betas=a,b", "should be numbers"),
        ("loss=triplet", "one of .*info-nce, nt-xent"),
        ("negative_layout=columns", 'needs loss .*"info-nce"'),
        ("batch", "write key=value"),
        ("compile=1", "should be true or false"),
        ("positives=", "positives is empty"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(UsageError, match=message):
        load_recipe("una", [change])


def test_a_wrong_change_is_blamed_and_not_the_recipes_file(tmp_path):
    with pytest.raises(UsageError, match=r"^--set batch=many: batch = 'many' should be a whole number"):
        load_recipe("una", ["seed=3", "batch=many"])
    with pytest.raises(UsageError, match=r"^--set learning_rat=3: unknown setting .* known: name"):
        load_recipe("una", ["batch=32", "learning_rat=3"])
    with pytest.raises(UsageError, match=r"^--set nt\.foo=3: unknown setting 'nt\.foo'; known"):
        load_recipe("una", ["nt.foo=3"])
    with pytest.raises(UsageError, match=r"^--set loss_settings\.gamma=2: \[loss_settings\]: the loss"):
        load_recipe("una", ["loss_settings.gamma=2"])
    own = tmp_path / "own.toml"
    own.write_text("batch = 0\n")
    with pytest.raises(UsageError, match=rf"^{re.escape(str(own))}: batch = 0 must be at least 1"):
        load_recipe(own, ["seed=3"])


def test_betas_may_be_written_with_a_comma():
    assert load_recipe("una", ["betas=0.9,0.98"]).optimizer.betas == (0.9, 0.98)
    assert load_recipe("una", ["betas=[0.8, 0.9]"]).optimizer.betas == (0.8, 0.9)


@pytest.mark.parametrize(
    ("name", "words"),
    [("simsce", "simcse-ntxent"), ("mine.toml", r"^mine\.toml: no such file(?!.*name a \.toml file)")],
)
def test_a_recipe_that_is_not_there(name, words):
    with pytest.raises(MissingError, match=words):
        load_recipe(name)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"negative_scope": "own"}, "negative_scope = 'own' needs loss .*\"info-nce\""),
        ({"hard_negative_weight": 0.5}, "hard_negative_weight = 0.5 needs"),
        (
            {"negative_layout": "columns"},
            'needs loss .*"info-nce".*, not "nt-xent"; leave negative_layout out',
        ),
    ],
)
def test_a_pool_has_no_columns(values, message):
    with pytest.raises(UsageError, match=message):
        make_recipe({"loss": "nt-xent", "negatives": ["una"]} | values)


def test_the_papers_settings_of_additions():
    augcse, vascl, esimcse = (load_recipe(name) for name in ("augcse", "vascl", "esimcse"))
    assert (augcse.loss, augcse.head) == ("symmetric", "batch-norm")
    assert (augcse.batch, augcse.learning_rate) == (128, 2e-5)
    table = augcse.additions["discriminator"]
    assert (table["weight"], table["alpha"], table["positive"], table["dropout"]) == (5e-3, -1.0, "self", 0.2)
    assert len(table["stages"]) == 6  # 8-2-Aug
    assert (vascl.schedule, vascl.epochs, vascl.optimizer.clip) == ("constant", 5, 0.0)
    assert (esimcse.batch, esimcse.additions["momentum"]["queue"]) == (64, 160)
    sncse = load_recipe("sncse").additions["soft_negative"]
    assert (sncse["least"], sncse["most"], sncse["weight"]) == (0.1, 0.3, 1e-3)
    assert Recipe().additions == {}


def test_a_loss_without_settings():
    assert "loss_settings" not in Recipe().as_json()  # checkpoints of before there were any go on
    with pytest.raises(UsageError, match='the loss "nt-xent" has no settings; leave it out'):
        make_recipe({"loss": "nt-xent", "loss_settings": {"margin": 1.0}})


def test_names_of_before_1_0_still_work(tmp_path):
    old = tmp_path / "old.toml"
    lines = ['loss = "one-way"', 'negatives = ["una"]', 'negative_layout = "columns"', "chunk = 8"]
    old.write_text("\n".join([*lines, "head_rate_scale = 2.0"]))
    new = {"loss": "info-nce", "negatives": ["una"], "gradient_cache": 8, "head_learning_rate_scale": 2.0}
    assert load_recipe(old) == make_recipe(new | {"name": "old"})
    assert load_recipe("vascl", ["chunk=4"]).gradient_cache == 4


@pytest.mark.parametrize("key", ["loss", "negative_layout", "chunk"])
def test_a_list_in_the_place_of_a_name_is_refused(key):
    with pytest.raises(UsageError, match=rf"{'gradient_cache' if key == 'chunk' else key} = "):
        make_recipe({key: [1, 2]})


def test_a_loss_is_found_by_its_file():
    assert {"info-nce", "symmetric", "nt-xent"} <= set(components.names("losses"))
    for name in components.names("losses"):
        loss = losses.find(name)
        assert callable(loss.function)
        assert loss.layout in ("columns", "pool")
        assert loss.further_negatives in (True, False)
    for name in components.names("heads"):
        head = make_head(name, 6)
        assert head(torch.ones(3, 6)).shape == (3, head.dimension)


def test_the_core_is_enough_for_its_own_recipes(monkeypatch):
    recipes = [path.stem for path in components.HERE.glob("recipes/*.toml")]
    monkeypatch.setattr(
        components,
        "_own",
        lambda kind, own=components._own: {
            name: place for name, place in own(kind).items() if "methods" not in place.module
        },
    )
    for name in recipes:
        assert load_recipe(name).name == name
    assert {"simcse", "sda", "static"} <= set(recipes)


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
