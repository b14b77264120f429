"""An encoder between two: its weights, and what is refused."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from augment_cli.encoding.loading import load_encoder
from train.cli import main


def trained_from(start, folder):
    """A copy whose weights have moved by 1."""
    shutil.copytree(start, folder)
    weights = load_file(folder / "model.safetensors")
    moved = {name: value + 1 if value.dtype.kind == "f" else value for name, value in weights.items()}
    save_file(moved, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "README.md").write_text("# Mine\n")
    return weights


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["interpolate", *map(str, arguments)])
    return end.value.code or 0


def test_every_weight_lies_between_and_the_folder_loads(tiny_encoder, tmp_path, capsys):
    first = trained_from(tiny_encoder, tmp_path / "trained")
    assert run(tiny_encoder, tmp_path / "trained", "--share", 0.25, "--out", tmp_path / "out") == 0
    found = load_file(tmp_path / "out/model.safetensors")
    assert found.keys() == first.keys()
    for name, value in first.items():
        np.testing.assert_allclose(found[name], value + 0.25 * (value.dtype.kind == "f"), rtol=1e-6)
    assert "0.75 of the start's and 0.25 of" in (tmp_path / "out/README.md").read_text()
    assert np.isfinite(load_encoder(str(tmp_path / "out")).encode(["one text"])).all()
    assert run(tiny_encoder, tmp_path / "trained", "--out", tmp_path / "out") == 2
    assert "is there already" in capsys.readouterr().err


def test_another_encoder_and_a_folder_without_weights_are_refused(tiny_encoder, tmp_path, capsys):
    weights = trained_from(tiny_encoder, tmp_path / "trained")
    name = next(iter(weights))
    save_file({name: weights[name][..., :1].copy()}, tmp_path / "trained/model.safetensors")
    assert run(tiny_encoder, tmp_path / "trained", "--out", tmp_path / "out") == 2
    assert f"was not trained from {tiny_encoder}: {name}" in capsys.readouterr().err
    assert run(tiny_encoder, tmp_path, "--out", tmp_path / "out") != 0
    assert "has no model.safetensors" in capsys.readouterr().err and not (tmp_path / "out").exists()
