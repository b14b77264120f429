"""The dry run's estimate."""

import pytest
import torch

from augment_cli.errors import UsageError
from tests.helpers.training import quick_run
from train.loading import load_recipe
from train.model.model import Model
from train.model.start import start
from train.prepare import numbers_of as plan_numbers


def test_the_dry_runs_memory_counts_a_running_mean_and_its_queue(tiny_encoder):
    def numbers(recipe):
        settings = load_recipe(recipe)
        encoder = start(str(tiny_encoder), settings, torch.device("cpu"))
        return encoder.model, plan_numbers(Model(encoder.model, "cls", settings))

    model, of_simcse = numbers("simcse")
    running_mean = sum(item.numel() for item in (*model.parameters(), *model.buffers()))
    assert numbers("esimcse")[1] == of_simcse + running_mean + 160 * (model.config.hidden_size + 1)


def test_a_batch_that_no_memory_holds_is_refused_before_the_first_step(
    tiny_store, tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.setattr("train.prepare._HOPELESS", 1e-9)
    with pytest.raises(UsageError, match=r"batch = 8: encoding .* GB, and there are .* --set chunk=64"):
        quick_run(tiny_store, tiny_encoder, tmp_path, batch=8)
    assert not (tmp_path / "best").exists()
