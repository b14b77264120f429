"""Learning rates, which layers stay, seeds, and the lines that a run ends with."""

import ast
import shlex
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, MPNetConfig, MPNetModel

from tests.helpers.places import REPOSITORY
from tests.helpers.training import LOGGED, logged_run
from train.draws import draw_key, seed_torch
from train.extras.finished import next_lines
from train.layers import freeze, known_layers
from train.loading import make_recipe
from train.model.model import Model
from train.model.start import start
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


SIZES = {"vocab_size": 40, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
BERT = BertModel(BertConfig(**SIZES, num_hidden_layers=4))
DISTILBERT = DistilBertModel(DistilBertConfig(vocab_size=40, dim=8, n_layers=4, n_heads=2, hidden_dim=16))


@pytest.mark.parametrize(
    "encoder",
    [BERT, MPNetModel(MPNetConfig(**SIZES, num_hidden_layers=4)), DISTILBERT],
    ids=["BERT", "MPNet", "DistilBERT"],
)
def test_embeddings_are_the_first_layer(encoder):
    embeddings, *layers = known_layers(encoder)
    assert embeddings is encoder.embeddings
    assert len(layers) == 4


def test_a_share_of_the_layers_stays_as_it_is():
    assert freeze(BERT, 0.5)
    trained = {name for name, weight in BERT.named_parameters() if weight.requires_grad}
    assert {name.split(".")[0] for name in trained} == {"encoder", "pooler"}
    assert {name.split(".")[2] for name in trained if name.startswith("encoder")} == {"2", "3"}


def test_of_other_encoders_nothing_is_known():
    other = torch.nn.Linear(3, 3)
    assert known_layers(other) == []
    assert not freeze(other, 0.5)
    assert other.weight.requires_grad


def test_draws_are_those_of_torchs_own_seed_and_leave_no_call_behind():
    torch.manual_seed(draw_key(42, "dropout", 3))
    expected = torch.rand(5)
    waiting = len(torch.cuda._queued_calls)
    torch.rand(2)
    for _ in range(3):
        seed_torch(42, "dropout", 3)
        assert torch.equal(torch.rand(5), expected)
    assert len(torch.cuda._queued_calls) == waiting
    seed_torch(42, "dropout", 4)
    assert not torch.equal(torch.rand(5), expected)


@pytest.mark.parametrize("folder", ["runs/una/best", "runs/my model's/best"])
def test_lines_that_publish_and_convert_are_commands_of_the_folder(folder):
    model, publish, onnx = next_lines(Path(folder)).split("\n")
    assert model == f"model: {folder}"
    name = Path(folder).parent.name
    assert shlex.split(publish)[1:] == ["hf", "upload", f"YOUR-NAME/{name}", folder, "."]
    program = ast.parse(onnx.removeprefix("ONNX: "))
    names = [node.value for node in ast.walk(program) if isinstance(node, ast.Constant)]
    assert names == [f"{folder}-onnx", folder, "onnx"]


def test_a_static_encoder_gets_no_conversion_that_would_do_nothing():
    static = REPOSITORY / "data" / "models" / "static"
    assert next_lines(static).split("\n")[2].startswith("ONNX: none, as a static encoder has no layers")
