"""The lines that a run ends with."""

import ast
import shlex
from pathlib import Path

import pytest

from tests.helpers.places import REPOSITORY
from train.extras.card import next_lines


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
