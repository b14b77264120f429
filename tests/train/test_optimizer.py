"""The learning rate, of a step and of a group."""

import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.training import LOGGED, logged_run
from train.data.order import draw_key
from train.loading import make_recipe
from train.model.model import Model, start
from train.optimizer import learning_rate_at, make_optimizer
from train.outputs import checkpoint


def test_linear_rate_falls_to_zero_after_the_last_step():
    recipe = make_recipe({"learning_rate": 1.0})
    assert [learning_rate_at(step, 4, recipe) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]


def test_warmup_stable_decay():
    values = {"learning_rate": 1.0, "schedule": "warmup-stable-decay", "warmup_steps": 2, "decay_steps": 4}
    recipe = make_recipe(values)
    rates = [learning_rate_at(step, 10, recipe) for step in range(10)]
    assert rates == [0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25]
    assert learning_rate_at(7, 7, make_recipe({"schedule": "constant", "learning_rate": 0.5})) == 0.5


def test_head_and_additions_have_a_rate_of_their_own(tiny_encoder):
    recipe = make_recipe(
        {"head_learning_rate_scale": 100.0, "discriminator": {"stages": ["una"]}, "momentum": {}}
    )
    encoder = start(tiny_encoder, recipe, torch.device("cpu"))
    model = Model(encoder.model, "cls", recipe)
    groups = make_optimizer(model, recipe).param_groups
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    scales = {names[id(p)]: group["scale"] for group in groups for p in group["params"]}
    assert {name.split(".")[0] for name, scale in scales.items() if scale == 100.0} == {"head", "additions"}
    assert {name.split(".")[0] for name, scale in scales.items() if scale == 1.0} == {"encoder"}
    assert not any("momentum" in name for name in scales)  # it follows, and is not trained


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
