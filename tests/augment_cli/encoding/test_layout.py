"""What a model folder says about itself, and folders that are refused."""

import json
import shutil

import pytest

from augment_cli.encoding.layout import read_layout
from augment_cli.errors import BadInputError, MissingError


def test_pickled_weights_are_refused_by_name(plain_model, tmp_path):
    folder = tmp_path / "pickled"
    shutil.copytree(plain_model, folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    with pytest.raises(MissingError, match=r"safetensors\.torch\.save_file"):
        read_layout(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(MissingError, match=r"model\.safetensors is missing"):
        read_layout(folder)


def edit_modules(source, folder, change):
    shutil.copytree(source, folder)
    modules = json.loads((folder / "modules.json").read_text())
    change(modules)
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def test_unsupported_and_hostile_modules_are_refused(old_layout, tmp_path):
    def lstm(modules):
        modules[2]["type"] = "sentence_transformers.models.LSTM"

    def outside(modules):
        modules[1]["path"] = "../elsewhere"

    with pytest.raises(BadInputError, match="module LSTM is not supported here"):
        read_layout(edit_modules(old_layout, tmp_path / "lstm", lstm))
    with pytest.raises(BadInputError, match="outside the model folder"):
        read_layout(edit_modules(old_layout, tmp_path / "outside", outside))
    with pytest.raises(BadInputError, match="the first module must be Transformer"):
        read_layout(edit_modules(old_layout, tmp_path / "empty", lambda modules: modules.clear()))
