"""Additions in whole runs: settings, learning on real sentences."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from augment_cli.errors import UsageError
from tests.helpers.training import logged_run, logged_steps
from train import components
from train.additions import find
from train.loading import RECIPES, load_recipe, make_recipe
from train.machine.distributed import join
from train.model.model import Model, start
from train.outputs import checkpoint
from train.prepare import Run
from train.run import train


@pytest.mark.parametrize("name", components.names("additions"))
def test_every_addition_says_what_its_settings_are(name):
    kind = find(name)
    assert kind.__doc__
    for field in dataclasses.fields(kind.settings_class):
        assert len(field.metadata["help"]) > 1, field.name
        if choices := field.metadata["choices"]:
            assert field.default in choices
            wrong = {name: {field.name: "odd"}}
            with pytest.raises(UsageError, match=rf"{field.name} = 'odd'; choose one of"):
                make_recipe({"loss": "symmetric", **wrong})


def test_every_addition_has_a_recipe():
    used = {name for recipe in RECIPES for name in load_recipe(recipe).additions}
    assert used == set(components.names("additions"))


def test_settings_of_a_table():
    recipe = load_recipe("simcse", ["momentum.queue=7", "repetition.rate=0.2"])
    assert recipe.additions["momentum"] == {"rate": 0.995, "queue": 7}
    assert list(recipe.additions) == ["momentum", "repetition"]  # in order of their names, whoever named them
    assert load_recipe("esimcse", ["momentum.queue=7"]).additions["momentum"]["queue"] == 7
    again = make_recipe(json.loads(json.dumps(recipe.as_json())))
    assert again == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("momentum.lenght=3", r"\[momentum\]: unknown setting 'lenght'; known: rate, queue"),
        ("momentum.queue=many", r"\[momentum\]: queue = 'many' should be a whole number"),
        ("momentun.queue=3", r"unknown setting 'momentun.queue' \(did you mean \[momentum\]\?\); known: "),
        ("momentum=3", r"\[momentum\]: should be a table"),
    ],
)
def test_wrong_settings_of_a_table_are_named(change, message):
    with pytest.raises(UsageError, match=message):
        load_recipe("simcse", [change])


def test_additions_need_the_contrastive_objective():
    with pytest.raises(UsageError, match='needs objective "contrastive"'):
        load_recipe("mlm", ["momentum.queue=3"])


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


LEARNING: dict[str, dict[str, Any]] = {
    "discriminator": {
        "loss": "symmetric",
        "head": "batch-norm",
        "discriminator": {"stages": ["una", "pi", "aa"], "weight": 1.0, "alpha": 1.0, "dropout": 0.0},
    },
    "neighbourhood": {
        "loss": "nt-xent",
        "head": "relu",
        "temperature": 0.2,
        "head_learning_rate_scale": 3.0,
        "neighbourhood": {"neighbours": 4, "radius": 1.0},
    },
    "soft_negative": {"soft_negative": {"stage": "pi", "weight": 1.0}},
    "esimcse": {"repetition": {}, "momentum": {"queue": 40}},
    "gaussian_negatives": {"gaussian_negatives": {"count": 48}},
    "latent_augmentation": {"latent_augmentation": {"kind": "linear", "strength": 0.5}},
    "pca_jitter": {"pca_jitter": {"layer": 1, "schedule": "constant", "level": 10.0}},
}


@pytest.mark.parametrize("name", LEARNING)
def test_an_addition_changes_what_is_learned(tiny_store, tiny_encoder, tmp_path, name):
    tables = set(LEARNING[name]) & set(components.names("additions"))
    assert tables
    for table in tables:
        learned = []
        without = {key: value for key, value in LEARNING[name].items() if key != table}
        if table == "pca_jitter":  # a hooked encoder rounds otherwise, so: no noise, but the hook
            without[table] = LEARNING[name][table] | {"level": 0.0}
        for number, values in enumerate((LEARNING[name], without)):
            out = tmp_path / f"{table}-{number}"
            logged_run(
                tiny_store, tiny_encoder, out, {"learning_rate": 1e-3, "steps": 3, "dropout": 0.0} | values
            )
            learned.append(load_file(out / "best/model.safetensors"))
        assert any(not torch.equal(learned[0][key], learned[1][key]) for key in learned[0]), table


@pytest.mark.parametrize(
    "name",
    ["discriminator", *(pytest.param(n, marks=pytest.mark.slow) for n in LEARNING if n != "discriminator")],
)
def test_a_short_run_lowers_its_own_losses(tiny_store, tiny_encoder, tmp_path, name):
    values = {"learning_rate": 3e-3, "epochs": 4, "schedule": "constant"} | LEARNING[name]
    _, events = logged_run(tiny_store, tiny_encoder, tmp_path, values)
    assert len(events) == 40
    for key in (key for key in events[0] if key.endswith("loss")):
        first, last = (np.mean([event[key] for event in part]) for part in (events[:10], events[-10:]))
        assert last < 0.9 * first, key
    # The watch for a collapse follows the contrastive loss; a further term need not come near zero.
    running = events[0]["loss"]
    for event in events[1:]:
        running = 0.9 * running + 0.1 * event["loss"]
    state = checkpoint.read_state(checkpoint.checkpoints(tmp_path / "checkpoints")[-1])
    assert state["watch"]["loss"] == pytest.approx(running)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        ("simcse", {}),
        ("simcse-ntxent", {}),
        ("una", {}),
        ("una-columns", {}),
        ("sda", {}),
        ("paraphrase", {"positives": ("aa",)}),
        ("paraphrase-una", {"positives": ("aa",)}),
        ("mix", {"positives": ("pi", "aa")}),
        ("simcse-mlm", {}),
        ("mlm", {}),
        ("vascl-simcse", {"gradient_cache": 16}),
        ("augcse", {"discriminator": {"stages": ("una", "pi", "aa"), "weight": 5e-3}}),
        ("vascl", {"gradient_cache": 16}),
        ("esimcse", {}),
        ("sncse", {"soft_negative": {"stage": "pi"}}),
        ("gsinfonce", {}),
        ("modals", {}),
        ("pca-jitter", {}),
        ("single-positive", {}),
        ("single-negative", {"negatives": ("una",), "only_changed": ("una",)}),
    ],
)
def test_every_recipe_runs_on_the_shipped_encoder(tiny_store, tmp_path, recipe, changes):
    values = load_recipe(recipe, ["soft_negative.stage=pi"] if recipe == "sncse" else []).as_json()
    tables = values.pop("additions")
    for name, table in changes.items():
        if isinstance(table, dict):
            tables[name] = tables[name] | table
        else:
            values[name] = table
    values |= {"batch": 32, "steps": 3, "threads": 1, "evaluate_every": 0, "log_every": 1} | tables
    shipped = components.HERE.parent / "data/models/encoder"
    outcome = train(Run(make_recipe(values), tiny_store, str(shipped), tmp_path), join())
    assert outcome.steps == 3
    assert (tmp_path / "last/model.safetensors").is_file()
    names = {event for event in logged_steps(tmp_path)[-1] if event.endswith("loss")}
    with_terms = {"discriminator", "neighbourhood", "soft_negative"} & tables.keys()
    expected = {f"{name}_loss" for name in with_terms}
    expected |= {"mlm_loss"} if recipe in ("mlm", "simcse-mlm") else set()
    assert names == expected | (set() if recipe == "mlm" else {"loss"})
