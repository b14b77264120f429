"""Low-rank adapters: what is exported, what a resumed run makes, and what has none."""

from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import load_file
from torch import nn

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import assert_same_bits, ended_before, quick_run
from train.methods.low_rank.low_rank_addition import LowRank, Settings

SETTINGS = {"low_rank": {"rank": 2}, "learning_rate": 1e-2, "steps": 4}


def test_the_exported_encoder_is_the_start_and_differences_of_low_rank(tiny_store, tiny_encoder, tmp_path):
    quick_run(tiny_store, tiny_encoder, tmp_path / "run", **SETTINGS)
    before = load_encoder(tiny_encoder).model.state_dict()
    after = load_file(tmp_path / "run/last/model.safetensors")
    assert after.keys() <= before.keys()
    changed = {name for name, tensor in after.items() if not np.array_equal(tensor, before[name].numpy())}
    assert changed and all("layer" in name and name.endswith(".weight") for name in changed)
    for name in changed:
        assert np.linalg.matrix_rank(after[name] - before[name].numpy(), tol=1e-5) <= 2


def test_a_resumed_run_makes_the_same(tiny_store, tiny_encoder, tmp_path):
    settings = SETTINGS | {"watching": {"checkpoint_every": 2}}
    quick_run(tiny_store, tiny_encoder, tmp_path / "whole", **settings)
    with ended_before(3, KeyboardInterrupt):
        quick_run(tiny_store, tiny_encoder, tmp_path / "ended", **settings)
    quick_run(tiny_store, tiny_encoder, tmp_path / "ended", **settings)
    assert_same_bits(tmp_path / "whole", tmp_path / "ended")


def test_an_encoder_without_linear_layers_has_none():
    with pytest.raises(UsageError, match="no linear layers"):
        LowRank(Settings(), SimpleNamespace(encoder=nn.Embedding(3, 2)))
