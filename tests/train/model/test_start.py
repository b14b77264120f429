"""The starting encoder: what training would lose of it is refused, what it keeps comes out again."""

import json

import pytest
import torch
from safetensors.torch import save_file

from augment_cli.encoding.encoder import to_length_one
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import logged_run
from train.loading import make_recipe
from train.model.model import start
from train.outputs.export import export


@pytest.fixture
def encoder(tiny_encoder, tmp_path):
    """A folder of its own, whose vectors have length 1."""
    found = load_encoder(tiny_encoder)
    found.modules = [to_length_one]
    export(found, tmp_path / "encoder")
    return tmp_path / "encoder"


def begin(folder):
    return start(folder, make_recipe({}), torch.device("cpu"))


def test_vectors_of_length_one_come_out_of_a_training(encoder, tiny_store, tmp_path):
    assert begin(encoder).modules == [to_length_one]
    logged_run(tiny_store, encoder, tmp_path / "run", {"steps": 2, "head": "tanh"})
    for out in ("best", "last"):
        assert load_encoder(tmp_path / "run" / out).modules == [to_length_one]


def test_steps_that_training_would_lose_are_refused(encoder):
    (encoder / "2_Dense").mkdir()
    sizes = {"in_features": 32, "out_features": 32, "bias": False}
    (encoder / "2_Dense/config.json").write_text(json.dumps(sizes))
    save_file({"linear.weight": torch.eye(32)}, encoder / "2_Dense/model.safetensors")
    modules = json.loads((encoder / "modules.json").read_text())
    modules[-1] |= {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (encoder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match="steps after the pooling besides Normalize"):
        begin(encoder)


def test_lower_case_that_training_would_not_see_is_refused(encoder):
    def change(name, **values):
        path = encoder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    change("sentence_bert_config.json", do_lower_case=True)
    assert begin(encoder).lower_case  # its tokenizer does so anyway
    export(load_encoder(encoder), encoder.with_name("again"))
    assert load_encoder(encoder.with_name("again")).lower_case
    words = json.loads((encoder / "tokenizer.json").read_text())
    change("tokenizer.json", normalizer=words["normalizer"] | {"lowercase": False})
    change("tokenizer_config.json", do_lower_case=False)
    with pytest.raises(UsageError, match="in lower case before its tokenizer"):
        begin(encoder)
