"""`fast = false`: the libraries' own code in a whole training, with the same results but for rounding."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from transformers import BertConfig, BertModel

from augment_cli.encoding.fast import bert as packed
from augment_cli.errors import MixError
from augment_cli.neural import fast
from tests.helpers.training import logged_run, quick_run
from train.loading import make_recipe
from train.model.fast.bert import BitDropout
from train.model.model import Model, start
from train.recipe import Recipe


@pytest.fixture(autouse=True)
def switch(monkeypatch):
    monkeypatch.setattr(fast, "_wanted", True)
    monkeypatch.setattr(fast, "_said", set())


def weights(folder):
    return load_file(folder / "last" / "model.safetensors")


@pytest.mark.parametrize(
    "values",
    [
        {"loss": "info-nce", "negatives": ("una",), "head": "none"},
        {"loss": "nt-xent", "negatives": ("una",), "pooling": "cls", "gradient_cache": 5},
        {"head": "none", "frozen": 0.5},
    ],
    ids=["columns", "pool", "frozen"],
)
def test_both_ways_train_the_same_encoder_without_dropout(
    tiny_store, tiny_encoder, tmp_path, monkeypatch, values
):
    more = values | {"steps": 6, "dropout": 0.0, "precision": "float64"}
    ours, events = logged_run(tiny_store, tiny_encoder, tmp_path / "fast", more)
    monkeypatch.setattr("train.model.model.encode", None)  # nothing of it is called
    monkeypatch.setattr("train.losses.fast.closed_form.surprise", None)
    theirs, others = logged_run(tiny_store, tiny_encoder, tmp_path / "plain", more | {"fast": False})
    assert ours.steps == theirs.steps == 6
    mine, plain = (
        np.array([event["loss"] for event in some if event["event"] == "step"]) for some in (events, others)
    )
    assert len(mine) == 6
    np.testing.assert_allclose(mine, plain, rtol=1e-9)
    trained, other = weights(tmp_path / "fast"), weights(tmp_path / "plain")
    assert trained.keys() == other.keys()
    for name, array in trained.items():
        np.testing.assert_allclose(array, other[name], rtol=1e-5, atol=1e-7, err_msg=name)
    before = load_file(tiny_encoder / "model.safetensors")
    stayed = {name for name, array in trained.items() if np.array_equal(array, before[name])}
    frozen = {name for name in trained if name.startswith(("embeddings.", "encoder.layer.0."))}
    assert frozen <= stayed if "frozen" in values else len(frozen & stayed) < 3  # key.bias has no gradient


def test_the_setting_decides_which_dropout_draws(tiny_encoder):
    for wanted in (True, False):
        fast.use(wanted)
        recipe = make_recipe({"pooling": "mean", "fast": wanted})
        model = start(tiny_encoder, recipe, torch.device("cpu")).model
        assert any(isinstance(module, BitDropout) for module in model.modules()) is wanted
        assert Model(model, "mean", recipe).packs is wanted


def test_only_a_training_without_it_says_so(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    """Checkpoints from before there was the setting are continued; one made in the other way is refused."""
    assert "fast" not in Recipe().as_json()
    assert make_recipe({"fast": False}).as_json()["fast"] is False
    quick_run(tiny_store, tiny_encoder, tmp_path / "ours", steps=2)
    quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2, fast=False)

    def settings(name):
        (state,) = (tmp_path / name / "checkpoints").glob("*/state.json")
        return json.loads(state.read_text())["settings"]

    assert "fast" not in settings("ours")
    assert settings("plain")["fast"] is False
    with pytest.raises(MixError, match="made with fast = False"):
        quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2)
    monkeypatch.setenv("AUGMENT_FAST", "0")  # the same as the setting
    quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2)
    with pytest.raises(MixError, match="now False"):
        quick_run(tiny_store, tiny_encoder, tmp_path / "ours", steps=2)


def test_layers_that_have_changed_are_left_to_transformers(capsys):
    config = BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    model = BertModel(config)
    assert packed.is_known(model)
    del model.encoder.layer[0].attention.self.scaling
    assert not packed.is_known(model)
    assert not packed.is_known(model)
    assert not Model(model, "mean", make_recipe({})).packs
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("BERT's layers: the library's own, slower code is used") and "scaling" in line


def test_products_that_torch_lacks_are_its_plain_ones(monkeypatch, capsys):
    monkeypatch.setattr(packed, "has_fast_bf16", lambda: True)
    monkeypatch.setattr(packed.torch.ops, "mkldnn", object())
    packed.fused_linear.cache_clear()
    try:
        assert packed.fused_linear() is None
        weight, bias, x = torch.randn(3, 4), torch.randn(3), torch.randn(5, 4)
        torch.testing.assert_close(packed.linear(weight, bias)(x), x @ weight.T + bias)
    finally:
        monkeypatch.undo()
        packed.fused_linear.cache_clear()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linear layers: ") and "_linear_pointwise" in line
