"""Recipes, losses, heads, additions and learning rates, of this package and others; what is refused."""

import ast
import dataclasses
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, MPNetConfig, MPNetModel

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.installing import install
from tests.helpers.made_stores import store_of
from tests.helpers.places import REPOSITORY
from tests.helpers.training import LOGGED, logged_run, logged_steps
from train import components, losses
from train.additions import find
from train.data.order import draw_key
from train.extras.card import next_lines
from train.heads import make_head
from train.loading import RECIPES, load_recipe, make_recipe, unlike_paper
from train.machine.distributed import join
from train.model import Model, freeze, known_layers, start
from train.objectives.contrastive import contrast
from train.optimizer import learning_rate_at
from train.outputs import checkpoint
from train.outputs.log import read_log
from train.prepare import Run
from train.recipe import Recipe
from train.run import train

PAPERS = {
    "simcse": "loss=info-nce temperature=0.05 pooling=cls head=tanh batch=64 learning_rate=3e-5 "
    "max_length=32 epochs=1 schedule=linear warmup_steps=0 clip=1.0 weight_decay=0.0",
    "esimcse": "batch=64 momentum.rate=0.995 momentum.queue=160",
    "sncse": "soft_negative.least=0.1 soft_negative.most=0.3 soft_negative.weight=1e-3",
}


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_settings_change_nothing(name):
    assert load_recipe(name, PAPERS[name].split()) == load_recipe(name)


def test_unas_baseline_differs_from_una_in_the_negatives_alone():
    una, ntxent = (load_recipe(name).as_json() for name in ("una", "simcse-ntxent"))
    differing = {key for key in una if una[key] != ntxent[key]}
    assert differing <= {"negatives", "alpha", "name", "description"}


def test_changes_on_top():
    recipe = load_recipe("una", ["batch=128", "alpha = 3", "learning_rate=1", "positives=self,pi"])
    assert (recipe.batch, recipe.alpha, recipe.learning_rate) == (128, 3, 1.0)
    assert recipe.positives == ("self", "pi")
    assert load_recipe("una", ["betas=0.9,0.98"]).optimizer.betas == (0.9, 0.98)
    assert load_recipe("una", ["betas=[0.8, 0.9]"]).optimizer.betas == (0.8, 0.9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("bathc=3", r"unknown setting 'bathc' \(did you mean batch\?\); known: name"),
        ("batch=many", "should be a whole number"),
        ("batch=0", "must be at least 1"),
        ("window=15", "write 16 or more"),
        ("learning_rate=0", "must be above 0"),
        ("learning_rate=inf", "should be a finite number"),
        ("dropout=1.5", "from 0 to below 1"),
        ("betas=0.9", "should be a list"),
        ("betas=0.9,1.5", "two numbers"),
        ("betas=a,b", "should be numbers"),
        ("loss=triplet", "one of .*info-nce, nt-xent"),
        ("negative_layout=columns", 'needs loss .*"info-nce".*, not "nt-xent"; leave negative_layout out'),
        ("batch", "write key=value"),
        ("compile=1", "should be true or false"),
        ("positives=", "positives is empty"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(UsageError, match=message):
        load_recipe("una", [change])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["seed=3", "batch=many"], r"--set batch=many: batch = 'many' should be a whole number"),
        (["batch=32", "learning_rat=3"], r"--set learning_rat=3: unknown setting .* known: name"),
        (["loss_settings.gamma=2"], r"--set loss_settings\.gamma=2: \[loss_settings\]: the loss"),
    ],
)
def test_a_wrong_change_is_blamed_and_not_the_recipes_file(tmp_path, changes, message):
    with pytest.raises(UsageError, match=f"^{message}"):
        load_recipe("una", changes)
    own = tmp_path / "own.toml"
    own.write_text("batch = 0\n")
    with pytest.raises(UsageError, match=rf"^{re.escape(str(own))}: batch = 0 must be at least 1"):
        load_recipe(own, ["seed=3"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("simsce", "Did you mean 'simcse'"),
        ("mine.toml", r"^mine\.toml: no such file(?!.*name a \.toml file)"),
    ],
)
def test_a_recipe_that_is_not_there(name, words):
    with pytest.raises(MissingError, match=words):
        load_recipe(name)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"negative_scope": "own"}, "negative_scope = 'own' needs loss .*\"info-nce\""),
        ({"hard_negative_weight": 0.5}, "hard_negative_weight = 0.5 needs"),
        ({"loss_settings": {"margin": 1.0}}, 'the loss "nt-xent" has no settings; leave it out'),
        ({"loss": [1, 2]}, "loss = "),
    ],
)
def test_what_a_pool_has_not_and_lists_in_the_place_of_names_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        make_recipe({"loss": "nt-xent", "negatives": ["una"]} | values)


def test_names_of_before_1_0_still_work(tmp_path):
    old = tmp_path / "old.toml"
    lines = ['loss = "one-way"', 'negatives = ["una"]', 'negative_layout = "columns"', "chunk = 8"]
    old.write_text("\n".join([*lines, "head_rate_scale = 2.0"]))
    new = {"loss": "info-nce", "negatives": ["una"], "gradient_cache": 8, "head_learning_rate_scale": 2.0}
    assert load_recipe(old) == make_recipe(new | {"name": "old"})
    assert load_recipe("vascl", ["chunk=4"]).gradient_cache == 4


def test_the_core_is_enough_for_its_own_recipes(monkeypatch):
    own = components._own

    def of_core(kind):
        return {name: place for name, place in own(kind).items() if "methods" not in place.module}

    recipes = [path.stem for path in components.HERE.glob("recipes/*.toml")]
    assert {"simcse", "sda", "static"} <= set(recipes)
    monkeypatch.setattr(components, "_own", of_core)
    for name in recipes:
        assert load_recipe(name).name == name


LINES = ["The keeper opened the heavy door.", "An old mill burned in 1901."] * 3


def test_sda_warns_of_the_default_mode_alone_and_so_does_its_log(tmp_path, tiny_encoder):
    store = store_of(tmp_path, LINES, "pi", "aa")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("aa", mode="paper"), "aa-paper")
        store = session.store

    def said(recipe, positives):
        return unlike_paper(load_recipe(recipe, [f"positives={positives}", "labels=kind"]), store)

    (warning,) = said("sda", "aa")
    assert "not SDA's" in warning and "augment-cli run sda --paper --store OTHER" in warning
    assert (
        said("sda", "aa-paper") == said("sda", "pi") == said("sda", "self") == said("paraphrase", "aa") == []
    )
    changes = ["positives=aa", "labels=kind", "batch=4", "steps=1", "max_length=16", "evaluate_every=0"]
    train(Run(load_recipe("sda", changes), store.path, str(tiny_encoder), tmp_path / "run"), join())
    events = read_log(tmp_path / "run/log.jsonl")
    assert [event["message"] for event in events if event["event"] == "warning"] == [warning]


@pytest.mark.parametrize(("recipe", "stage"), [("sda", "aa"), ("una", "una")])
def test_paper_refuses_the_shipped_texts_and_takes_the_papers(tmp_path, tiny_encoder, ended, recipe, stage):
    own = {"aa": {"mode": "paper"}, "una": {"surface": "in-place", "radius": "4000"}}[stage]
    store = store_of(tmp_path, LINES, stage)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run(stage, **own), f"{stage}-paper")

    def run(name):
        column = {"sda": "positives", "una": "negatives"}[recipe]
        settings = [f"{column}={name}", "batch=4", "steps=1", "max_length=16", "evaluate_every=0"]
        where = ["--store", store.path, "--encoder", tiny_encoder, "--out", tmp_path / name]
        return ended(recipe, "--paper", *where, "--set", *settings)

    code, said = run(stage)
    assert code == 2 and f"is not {recipe.upper()}'s" in said
    assert run(f"{stage}-paper")[0] == 0
    assert "none of una, sda, augcse" in ended("simcse", "--paper")[1]


LOSS = """
from dataclasses import dataclass

LAYOUT = "columns"
FURTHER_NEGATIVES = False


@dataclass(frozen=True)
class Settings:
    margin: float = 0.5
    form: str = "hinge"

    def __post_init__(self):
        if self.margin < 0:
            raise ValueError(f"margin = {self.margin} must not be below 0")


def far_away(anchors, candidates, excluded, temperature, logit_bias=None, *, settings):
    return anchors.sum(dim=1) * 0 + settings.margin
"""
HEAD = """
from torch import nn


class TwiceHead(nn.Module):
    def __init__(self, dimension):
        super().__init__()
        self.dimension = dimension

    def forward(self, embeddings):
        return 2 * embeddings
"""
ADDITION = """
from dataclasses import dataclass

from train.additions.base import Addition


class NoWord(Addition):
    @dataclass(frozen=True)
    class Settings:
        weight: float = 0.25

    settings_class = Settings
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package for this test: its entry points of one group, and one module."""
    loaded = set()

    def add(name, group, points, **modules):
        install(tmp_path / name, name, points, f"augment_cli.{group}", **modules)
        monkeypatch.syspath_prepend(tmp_path / name)
        loaded.update(modules)
        forget()

    def forget():
        for module in loaded:
            sys.modules.pop(module, None)
        augmentations.provided.cache_clear()
        components.layout.cache_clear()
        losses.find.cache_clear()

    yield add
    monkeypatch.undo()
    forget()


def test_a_loss(package, tmp_path):
    package("faraway", "losses", {"far-away": "faraway_loss"}, faraway_loss=LOSS)
    assert "far-away" in components.names("losses")
    assert components.layout("far-away") == "columns"
    assert make_recipe({"loss": "far-away"}).loss_settings == {"margin": 0.5, "form": "hinge"}
    (tmp_path / "mine.toml").write_text('loss = "far-away"\n[loss_settings]\nmargin = 2\n')
    recipe = load_recipe(str(tmp_path / "mine.toml"), ["loss_settings.form=soft"])
    assert recipe.loss_settings == {"margin": 2.0, "form": "soft"}
    assert make_recipe(recipe.as_json()) == recipe  # as a checkpoint has it
    assert contrast(recipe, torch.ones(3, 2, 4), torch.arange(6).reshape(3, 2), []) == 2
    refused = [({"size": 1}, "unknown setting 'size'; known: margin"), ({"margin": -1.0}, "not be below 0")]
    for table, message in refused:
        with pytest.raises(UsageError, match=rf"\[loss_settings\]: .*{message}"):
            make_recipe({"loss": "far-away", "loss_settings": table})


def test_a_head_and_an_addition(package):
    package("twice", "heads", {"twice": "twice_head"}, twice_head=HEAD)
    package("nowords", "additions", {"no_word": "no_word_addition"}, no_word_addition=ADDITION)
    recipe = make_recipe({"head": "twice", "no_word": {"weight": 0.5}})
    assert (recipe.head, recipe.additions) == ("twice", {"no_word": {"weight": 0.5}})
    assert make_head("twice", 4)(torch.ones(1, 4)).tolist() == [[2, 2, 2, 2]]
    assert find("no_word").__name__ == "NoWord"


@pytest.mark.parametrize(
    ("points", "source", "name", "message"),
    [
        ({"info-nce": "far_away"}, LOSS, "info-nce", "augment-cli and faraway each bring a loss 'info-nce'"),
        ({"far": "no_such_module"}, LOSS, "far", "the loss 'far' of the package faraway .* cannot be loaded"),
        ({"near-by": "far_away"}, LOSS, "near-by", r"faraway \(far_away\) has no near_by; see docs"),
        ({"far-away": "far_away"}, LOSS.replace("LAYOUT", "SHAPE"), "far-away", "has no LAYOUT; see docs"),
    ],
)
def test_a_package_with_a_fault_is_named(package, points, source, name, message):
    package("faraway", "losses", points, far_away=source)
    with pytest.raises(UsageError, match=message):
        losses.find(name)
    assert losses.find("nt-xent").layout == "pool"  # the others still work


def test_what_cannot_be_read_is_said_before_anything_is_loaded(package):
    package("faraway", "losses", {"far-away": "far_away"}, far_away="1 +")
    with pytest.raises(UsageError, match=r"the loss 'far-away' of the package faraway .* cannot be read"):
        make_recipe({"loss": "far-away"})


@pytest.mark.parametrize("name", components.names("additions"))
def test_additions_take_no_other_choice(name):
    kind = find(name)
    for field in dataclasses.fields(kind.settings_class):
        if choices := field.metadata["choices"]:
            assert field.default in choices
            wrong = {name: {field.name: "odd"}}
            with pytest.raises(UsageError, match=rf"{field.name} = 'odd'; choose one of"):
                make_recipe({"loss": "symmetric", **wrong})


def test_every_shipped_recipe_loads_and_every_addition_has_one():
    recipes = {name: load_recipe(name) for name in RECIPES}
    assert all(recipe.name == name and recipe.description for name, recipe in recipes.items())
    used = {name for recipe in recipes.values() for name in recipe.additions}
    assert used == set(components.names("additions"))


def test_settings_of_a_table():
    recipe = load_recipe("simcse", ["momentum.queue=7", "repetition.rate=0.2"])
    assert recipe.additions["momentum"] == {"rate": 0.995, "queue": 7}
    assert list(recipe.additions) == ["momentum", "repetition"]  # in order of their names, whoever named them
    assert load_recipe("esimcse", ["momentum.queue=7"]).additions["momentum"]["queue"] == 7
    again = make_recipe(json.loads(json.dumps(recipe.as_json())))
    assert again == recipe


@pytest.mark.parametrize(
    ("recipe", "change", "message"),
    [
        ("simcse", "momentum.lenght=3", r"\[momentum\]: unknown setting 'lenght'; known: rate, queue"),
        ("simcse", "momentum.queue=many", r"\[momentum\]: queue = 'many' should be a whole number"),
        ("simcse", "momentun.queue=3", r"setting 'momentun.queue' \(did you mean \[momentum\]\?\); known: "),
        ("simcse", "momentum=3", r"\[momentum\]: should be a table"),
        ("mlm", "momentum.queue=3", 'needs objective "contrastive"'),
    ],
)
def test_wrong_settings_of_a_table_are_named(recipe, change, message):
    with pytest.raises(UsageError, match=message):
        load_recipe(recipe, [change])


def test_an_addition_takes_no_part_in_what_others_draw(tiny_encoder):
    """Heads are the same with and without additions, so that rows of a table differ in the method alone."""
    states = []
    for values in ({}, {"discriminator": {"stages": ["una"]}}):
        recipe = make_recipe(values)
        encoder = start(tiny_encoder, recipe, torch.device("cpu"))
        torch.manual_seed(1)
        states.append(Model(encoder.model, "cls", recipe).head.state_dict())
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name])


DISCRIMINATOR = {"stages": ["una", "pi", "aa"], "weight": 1.0, "alpha": 1.0, "dropout": 0.0}


@pytest.mark.parametrize(
    "learned",
    [
        {"loss": "nt-xent", "negatives": ["una"]},
        {"loss": "symmetric", "head": "batch-norm", "discriminator": DISCRIMINATOR},
    ],
)
def test_a_short_run_lowers_its_own_losses(tiny_store, tiny_encoder, tmp_path, learned):
    values = {"learning_rate": 3e-3, "epochs": 4, "schedule": "constant"} | learned
    _, events = logged_run(tiny_store, tiny_encoder, tmp_path, values)
    for key in (key for key in events[0] if key.endswith("loss")):
        first, last = (np.mean([event[key] for event in part]) for part in (events[:10], events[-10:]))
        assert last < 0.9 * first, key
    # The watch for a collapse follows the contrastive loss; a further term need not come near zero.
    running = events[0]["loss"]
    for event in events[1:]:
        running = 0.9 * running + 0.1 * event["loss"]
    state = checkpoint.read_state(checkpoint.checkpoints(tmp_path / "checkpoints")[-1])
    assert state["watch"]["loss"] == pytest.approx(running)
    assert not any("head" in name for name in load_file(tmp_path / "last/model.safetensors"))


# What the tiny store lacks is left out, or others stand for it.
CHANGES: dict[str, dict[str, Any]] = {
    "paraphrase": {"positives": ("aa",)},
    "paraphrase-una": {"positives": ("aa",)},
    "mix": {"positives": ("pi", "aa")},
    "vascl-simcse": {"gradient_cache": 16},
    "augcse": {"discriminator": {"stages": ("una", "pi", "aa"), "weight": 5e-3}},
    "vascl": {"gradient_cache": 16},
    "sncse": {"soft_negative": {"stage": "pi"}},
    "single-negative": {"negatives": ("una",), "only_changed": ("una",)},
}
AS_THEY_ARE = ["simcse", "simcse-ntxent", "una", "una-columns", "sda", "simcse-mlm", "mlm", "esimcse"]
AS_THEY_ARE += ["gsinfonce", "modals", "pca-jitter", "single-positive"]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [*AS_THEY_ARE, *CHANGES])
def test_every_recipe_runs_on_the_shipped_encoder(tiny_store, tmp_path, recipe):
    values = load_recipe(recipe, ["soft_negative.stage=pi"] if recipe == "sncse" else []).as_json()
    tables = values.pop("additions")
    for name, change in CHANGES.get(recipe, {}).items():
        if isinstance(change, dict):
            tables[name] = tables[name] | change
        else:
            values[name] = change
    values |= {"batch": 32, "steps": 3, "threads": 1, "evaluate_every": 0, "log_every": 1} | tables
    shipped = components.HERE.parent / "data/models/encoder"
    outcome = train(Run(make_recipe(values), tiny_store, str(shipped), tmp_path), join())
    assert outcome.steps == 3
    assert (tmp_path / "last/model.safetensors").is_file()
    assert any(event.endswith("loss") for event in logged_steps(tmp_path)[-1])


@pytest.mark.parametrize(
    ("values", "rates"),
    [
        ({}, [1, 0.75, 0.5, 0.25]),
        ({"schedule": "constant"}, [1, 1, 1, 1]),
        (
            {"schedule": "warmup-stable-decay", "warmup_steps": 2, "decay_steps": 4},
            [0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25],
        ),
    ],
)
def test_learning_rates(values, rates):
    recipe = make_recipe(values | {"learning_rate": 1.0})
    assert [learning_rate_at(step, len(rates), recipe) for step in range(len(rates))] == rates


def test_the_first_step_moves_each_group_by_its_rate(tiny_store, tiny_encoder, tmp_path):
    values = {"steps": 1, "learning_rate": 1e-3, "head_learning_rate_scale": 10.0}
    logged_run(tiny_store, tiny_encoder, tmp_path, values)
    recipe = make_recipe(LOGGED)
    encoder = start(tiny_encoder, recipe, torch.device("cpu"))
    torch.manual_seed(draw_key(recipe.seed, "heads"))
    before = Model(encoder.model, "mean", recipe).state_dict()
    after = load_file(checkpoint.checkpoints(tmp_path / "checkpoints")[-1] / "model.safetensors")
    # Adam's first step is the rate times the gradient's sign, but for gradients next to nothing.
    moved = {name: float((after[name] - before[name]).abs().max()) for name in after}
    assert moved["head.dense.weight"] == pytest.approx(1e-2, rel=1e-2)
    assert moved["encoder.encoder.layer.0.output.dense.weight"] == pytest.approx(1e-3, rel=1e-2)


SIZES = {"vocab_size": 40, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
BERT = BertModel(BertConfig(**SIZES, num_hidden_layers=4))
DISTILBERT = DistilBertModel(DistilBertConfig(vocab_size=40, dim=8, n_layers=4, n_heads=2, hidden_dim=16))


@pytest.mark.parametrize("encoder", [BERT, MPNetModel(MPNetConfig(**SIZES, num_hidden_layers=4)), DISTILBERT])
def test_embeddings_are_the_first_layer(encoder):
    embeddings, *layers = known_layers(encoder)
    assert embeddings is encoder.embeddings
    assert len(layers) == 4


def test_a_share_of_the_layers_stays_as_it_is_where_they_are_known():
    assert freeze(BERT, 0.5)
    trained = {name for name, weight in BERT.named_parameters() if weight.requires_grad}
    assert {name.split(".")[0] for name in trained} == {"encoder", "pooler"}
    assert {name.split(".")[2] for name in trained if name.startswith("encoder")} == {"2", "3"}
    other = torch.nn.Linear(3, 3)
    assert known_layers(other) == []
    assert not freeze(other, 0.5) and other.weight.requires_grad


def test_lines_that_publish_and_convert_are_commands_of_the_folder():
    folder = "runs/my model's/best"
    model, publish, onnx = next_lines(Path(folder)).split("\n")
    assert model == f"model: {folder}"
    assert shlex.split(publish)[1:] == ["hf", "upload", "YOUR-NAME/my model's", folder, "."]
    program = ast.parse(onnx.removeprefix("ONNX: "))
    names = [node.value for node in ast.walk(program) if isinstance(node, ast.Constant)]
    assert names == [f"{folder}-onnx", folder, "onnx"]
    static = next_lines(REPOSITORY / "data/models/static").split("\n")
    assert static[2].startswith("ONNX: none, as a static encoder has no layers")


PAGE = (REPOSITORY / "docs/explanation/trainer-walkthrough.md").read_text("utf-8")
NAMED = re.findall(r"`(train/[\w/]+\.py)::(\w+)`", PAGE)


def lines(paths):
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def test_the_plain_path_is_five_files_and_1200_lines():
    files = {file for file, _ in NAMED}
    assert len(files) == 5
    assert lines(REPOSITORY / file for file in files) <= 1200


def test_the_core_is_small_beside_the_methods():
    files = {path: lines([path]) for path in (REPOSITORY / "train").rglob("*.py")}
    core = {path: n for path, n in files.items() if not {"methods", "extras"} & {*path.parts}}
    assert sum(core.values()) <= 5_450
    # Rooms called `fast` are there for speed alone: without them everything computes the same.
    assert sum(n for path, n in core.items() if "fast" not in path.parts) <= 5_000
    assert len(dataclasses.fields(Recipe)) <= 45
