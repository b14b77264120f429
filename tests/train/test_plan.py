"""The dry run's estimate."""

import resource
from pathlib import Path

import pytest
import torch

from augment_cli.errors import UsageError
from tests.helpers.training import QUICK, quick_run
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.model import Model, start
from train.model.memory import check_batch, check_memory, memory_for, memory_of
from train.prepare import Run, prepare_model


def test_the_dry_runs_memory_counts_a_running_mean_and_its_queue(tiny_encoder):
    def numbers(recipe):
        settings = load_recipe(recipe)
        encoder = start(str(tiny_encoder), settings, torch.device("cpu"))
        model = Model(encoder.model, "cls", settings)
        return encoder.model, memory_of(model, 2, settings, join(), rows=8).weights // 4

    model, of_simcse = numbers("simcse")
    running_mean = sum(item.numel() for item in (*model.parameters(), *model.buffers()))
    assert numbers("esimcse")[1] == of_simcse + running_mean + 160 * (model.config.hidden_size + 1)


def test_a_batch_that_no_memory_holds_is_refused_before_the_first_step(
    tiny_store, tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.setattr("train.model.memory._HOPELESS", 1e-9)
    message = r"batch = 8: encoding .* GB, and there are .* --set gradient_cache=64"
    with pytest.raises(UsageError, match=message):
        quick_run(tiny_store, tiny_encoder, tmp_path, batch=8)
    assert not (tmp_path / "best").exists()


def test_the_loss_of_the_padded_batch_is_counted_chunked_or_not(tiny_store, tiny_encoder, tmp_path):
    def memory(**values):
        recipe = make_recipe(QUICK | {"batch": 1000} | values)
        trainee = prepare_model(Run(recipe, tiny_store, str(tiny_encoder), tmp_path), join())
        return memory_of(trainee.model, trainee.objective.views_a_row, recipe, join(), rows=150)

    plain = memory()
    assert plain.texts == 300  # as many as there are, though the matrices have 1,000 rows
    assert plain.loss >= 4 * 4 * 1000**2
    assert memory(gradient_cache=8).loss == plain.loss
    assert memory(batch=2000).loss > 3.5 * plain.loss
    assert memory(negatives=["una"], loss="nt-xent").loss > 3.5 * memory(loss="nt-xent").loss
    assert memory(precision="float64").loss == 2 * plain.loss
    masked, twice = memory(objective="mlm"), memory(objective="mlm", mask_rate=0.3)
    assert masked.loss == 0
    assert twice.activations > 1.1 * masked.activations  # of each hidden token a number a word


def test_a_loss_that_no_memory_holds_is_refused_before_anything_is_loaded(tiny_store, tmp_path):
    message = r"batch = 10000000: the loss compares .* there are .* smaller batch"
    for values in ({}, {"gradient_cache": 64}):
        with pytest.raises(UsageError, match=message):
            quick_run(tiny_store, tmp_path / "no encoder", tmp_path, batch=10_000_000, **values)
    for batch in (2**24 + 1, 10**400):
        with pytest.raises(UsageError, match="larger than any batch can be; choose at most 16,777,216"):
            quick_run(tiny_store, tmp_path / "no encoder", tmp_path, batch=batch)
    recipe = make_recipe(QUICK | {"batch": 100_000})
    with pytest.raises(UsageError, match="takes about 160 GB, and there are 24"):
        check_batch(recipe, join(), available=24 * 10**9)
    check_batch(make_recipe(QUICK | {"batch": 10_000}), join(), available=24 * 10**9)


def test_a_step_that_is_near_the_memory_is_warned_of(tiny_store, tiny_encoder, tmp_path, capsys):
    recipe = make_recipe(QUICK)
    trainee = prepare_model(Run(recipe, tiny_store, str(tiny_encoder), tmp_path), join())
    step = (trainee.model, trainee.objective.views_a_row, recipe, join(), 150)
    memory = memory_of(*step)
    most = memory.weights + memory.activations + memory.loss
    check_memory(*step, available=2 * most)
    assert not capsys.readouterr().err
    check_memory(*step, available=most)
    assert "warning: a step may take up to" in capsys.readouterr().err


def test_the_memory_is_the_least_of_machine_container_and_limit(monkeypatch, tmp_path):
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "small").write_text("5000\n")
    free = memory_for(join())
    monkeypatch.setattr("train.model.memory._CONTAINER_LIMITS", (tmp_path / "max", Path("/nowhere")))
    assert memory_for(join()) >= free
    monkeypatch.setattr("train.model.memory._CONTAINER_LIMITS", (tmp_path / "max", tmp_path / "small"))
    assert memory_for(join()) == 5000
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (4000, -1))
    assert memory_for(join()) == 4000
