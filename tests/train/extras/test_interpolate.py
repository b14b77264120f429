"""An encoder between the start and what a training made of it."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from augment_cli.errors import MixError, UsageError
from tests.helpers.tiny_encoders import make_tiny_encoder
from train.cli import main


@pytest.fixture
def trained(tiny_encoder, tmp_path):
    folder = shutil.copytree(tiny_encoder, tmp_path / "trained")
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: 2 * values + 1 for name, values in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    return folder


def ended(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(["interpolate", *map(str, arguments)])
    return end.value.code, capsys.readouterr()


def test_each_weight_is_that_share_of_the_way(tiny_encoder, trained, tmp_path, capsys):
    out = tmp_path / "out"
    code, shown = ended([tiny_encoder, trained, "--share", "0.25", "--out", out], capsys)
    assert code == 0 and "0.25 of the way" in shown.out
    before, after = (load_file(folder / "model.safetensors") for folder in (tiny_encoder, out))
    shared = before.keys() & after.keys()
    assert len(shared) > 30
    for name in shared:
        np.testing.assert_allclose(after[name], 1.25 * before[name] + 0.25, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("share", ["0", "1", "-0.5", "nan"])
def test_the_ends_are_refused(tiny_encoder, trained, tmp_path, capsys, share):
    code, shown = ended([tiny_encoder, trained, "--share", share, "--out", tmp_path / "out"], capsys)
    assert code == UsageError.exit_code and "must be above 0 and below 1" in shown.err


def test_another_encoder_and_a_folder_that_is_there_are_refused(tiny_encoder, trained, tmp_path, capsys):
    other = make_tiny_encoder(tmp_path / "other", layers=3)
    code, shown = ended([other, trained, "--out", tmp_path / "out"], capsys)
    assert code == MixError.exit_code and "other weights" in shown.err
    assert not (tmp_path / "out").exists()
    code, shown = ended([tiny_encoder, trained, "--out", trained], capsys)
    assert code == UsageError.exit_code and "exists" in shown.err
