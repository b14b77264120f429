"""The dry run's estimate."""

import torch

from train.loading import load_recipe
from train.model.model import Model
from train.model.start import start
from train.plan import _numbers as plan_numbers


def test_the_dry_runs_memory_counts_a_running_mean_and_its_queue(tiny_encoder):
    def numbers(recipe):
        settings = load_recipe(recipe)
        encoder = start(str(tiny_encoder), settings, torch.device("cpu"))
        return encoder.model, plan_numbers(Model(encoder.model, "cls", settings))

    model, of_simcse = numbers("simcse")
    running_mean = sum(item.numel() for item in (*model.parameters(), *model.buffers()))
    assert numbers("esimcse")[1] == of_simcse + running_mean + 160 * (model.config.hidden_size + 1)
