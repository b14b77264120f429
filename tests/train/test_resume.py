"""Exact resumption: killed anywhere, a continued run equals the undisturbed one to the bit."""

import dataclasses
import json
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from augment_cli.errors import BadInputError, MixError
from augment_cli.store.files import sha256_of_json
from augment_cli.store.store import Store
from tests.helpers.training import (
    assert_same_bits,
    begun,
    draw,
    ended_before,
    finished,
    logged_steps,
    options,
)
from tests.helpers.vector_stages import add_vectors
from train.loading import make_recipe
from train.machine.distributed import join
from train.outputs import checkpoint
from train.outputs.log import read_log
from train.prepare import Run
from train.run import train

RECIPES = {
    "una": {"loss": "nt-xent", "negatives": ("una",), "alpha": 2, "precision": "bf16"},
    "fp16": {"precision": "fp16", "mlm_weight": 0.1},
    "mlm": {"objective": "mlm", "schedule": "warmup-stable-decay", "decay_steps": 3},
    # Everything that remembers something: batch norm, discriminator, running mean and its queue.
    "memory": {
        "loss": "symmetric",
        "head": "batch-norm",
        "discriminator": {"stages": ["una", "pi"], "weight": 0.1},
        "pca_jitter": {"layer": 1, "schedule": "continuous"},
        "repetition": {"redraw": True},
    },
    "queue": {
        "momentum": {"rate": 0.9, "queue": 40},
        "gaussian_negatives": {"count": 8},
        "gradient_cache": 10,
        "soft_negative": {"stage": "pi", "weight": 0.1},
        "latent_augmentation": {},
        "head_learning_rate_scale": 3.0,
    },
    "virtual": {
        "loss": "nt-xent",
        "head": "relu",
        "gradient_cache": 7,
        "neighbourhood": {"neighbours": 4, "radius": 2.0, "gradient": "full", "steps": 2},
    },
    "cached": {
        "positives": ("aa", "pi", "self"),
        "gradient_cache": 5,
        "mlm_weight": 0.1,
        "loss": "symmetric",
    },
}
COMMON = {"batch": 16, "epochs": 2, "learning_rate": 1e-3, "evaluate_every": 0}
COMMON |= {"checkpoint_every": 4, "log_every": 1}


class Killed(BaseException):
    """Stands in for SIGKILL: nothing in the program catches it."""


def make_run(store, encoder, out, values=RECIPES["una"], **more):
    return Run(make_recipe(COMMON | values | more), store, str(encoder), out)


def numbers(folder):
    return [
        {key: value for key, value in event.items() if key not in ("rows_per_second", "waited")}
        for event in logged_steps(folder)
    ]


# What is quick, and what is worth a minute more.
QUICK = [("una", 13)]
SLOW = [(name, step) for name in RECIPES for step in (3, 13, 19)]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW if case not in QUICK)]


@pytest.fixture(scope="module")
def undisturbed(tiny_store, tiny_encoder, tmp_path_factory):
    """The settings of one of the recipes, and the folder of a run that nothing has disturbed."""
    folder, known = tmp_path_factory.mktemp("runs"), {}

    def once(name):
        if name not in known:
            known[name] = folder / name
            run = make_run(tiny_store, tiny_encoder, known[name], RECIPES[name])
            assert train(run, join()).steps == 20
        return RECIPES[name], known[name]

    return once


@pytest.mark.parametrize(("name", "step"), CASES)
def test_killed_before_a_step_continues_to_the_bit(
    undisturbed, tiny_store, tiny_encoder, tmp_path, name, step
):
    values, expected = undisturbed(name)
    run = make_run(tiny_store, tiny_encoder, tmp_path / "run", values)
    with ended_before(step, Killed):
        train(run, join())
    saved = checkpoint.checkpoints(run.out / "checkpoints")
    assert [int(path.name[5:]) for path in saved] == list(range(4, step + 1, 4))[-2:]
    train(run, join())
    assert_same_bits(run.out, expected)
    assert numbers(run.out) == numbers(expected)
    # What heads and additions remember too: running means and statistics, the queue.
    last = [checkpoint.checkpoints(out / "checkpoints")[-1] for out in (run.out, expected)]
    for file in ("model.safetensors", "optimizer.safetensors"):
        assert_same_bits(*last, file)


def test_killed_while_a_checkpoint_is_written(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    run = make_run(tiny_store, tiny_encoder, tmp_path / "run")
    original, calls = checkpoint.write_tensors, []

    def kill(tensors, path):
        calls.append(path)
        if len(calls) == 4:  # the optimiser's file of the second checkpoint
            path.write_bytes(b"half")
            raise Killed
        original(tensors, path)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_tensors", kill)
        with pytest.raises(Killed):
            train(run, join())
    assert [path.name for path in checkpoint.checkpoints(run.out / "checkpoints")] == ["step-0000004"]
    assert train(run, join()).steps == 20
    assert not list((run.out / "checkpoints").glob(".*"))  # the half-written one is gone


def test_moments_come_back_to_where_the_parameters_are(tmp_path):
    """A checkpoint is read on the CPU; torch's device `meta` stands in for any other."""
    models = [nn.Linear(3, 2, bias=False, device=device) for device in ("cpu", "meta")]
    optimizers = [torch.optim.AdamW(model.parameters(), fused=True) for model in models]
    models[0](torch.ones(1, 3)).sum().backward()
    optimizers[0].step()
    saved = checkpoint.save(tmp_path, 1, models[0], optimizers[0], {})
    checkpoint.load(saved, models[1], optimizers[1])
    (moments,) = optimizers[1].state.values()
    assert {name: tensor.device.type for name, tensor in moments.items()} == dict.fromkeys(
        ("step", "exp_avg", "exp_avg_sq"), "meta"
    )


@pytest.mark.parametrize(
    "name", ["una", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mlm", "queue"))]
)
def test_a_finished_run_is_not_trained_again(undisturbed, tiny_store, tiny_encoder, name):
    values, out = undisturbed(name)
    before = (out / "last/model.safetensors").read_bytes()
    assert train(make_run(tiny_store, tiny_encoder, out, values), join()).steps == 20
    assert (out / "last/model.safetensors").read_bytes() == before
    assert len(numbers(out)) == 20


@pytest.fixture(scope="module")
def short(tiny_store, tiny_encoder, tmp_path_factory):
    run = make_run(tiny_store, tiny_encoder, tmp_path_factory.mktemp("short") / "run", steps=4)
    train(run, join())
    return run


@pytest.fixture
def stopped(short, tmp_path):
    """A copy of a finished short run with a checkpoint to damage."""
    run = dataclasses.replace(short, out=Path(shutil.copytree(short.out, tmp_path / "run")))
    return run, run.out / "checkpoints/step-0000004"


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.safetensors", "flip"),
        ("optimizer.safetensors", "cut"),
        ("state.json", "missing"),
        ("state.json", "edited"),
    ],
)
def test_a_damaged_checkpoint_is_refused_by_name(stopped, name, damage):
    run, folder = stopped
    data = bytearray((folder / name).read_bytes())
    if damage == "missing":
        (folder / name).unlink()
    elif damage == "edited":
        (folder / name).write_text(json.dumps(json.loads(data) | {"step": 3}))
    else:
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data if damage == "flip" else data[: len(data) // 2])
    with pytest.raises(BadInputError, match="step-0000004"):
        train(run, join())


def test_another_dev_score_does_not_continue_a_run(tiny_store, tiny_encoder, tmp_path):
    values = {"steps": 4, "evaluate_every": 2, "held_out": 0.3}
    run = make_run(tiny_store, tiny_encoder, tmp_path / "run", **values)
    run = dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, schedule="warmup-stable-decay"))
    train(run, join())
    scores = {"best": {"stsb_dev": 0.5, "pair_retrieval": 0.5}}
    saved = checkpoint.checkpoints(run.out / "checkpoints")[-1]
    state = checkpoint.read_state(saved) | {"scores": scores}
    (saved / "state.json").write_text(json.dumps(state | {"digest": sha256_of_json(state)}))
    longer = dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, steps=8))
    with pytest.raises(MixError, match="best score so far is of stsb_dev, now pair_retrieval decides"):
        train(longer, join())


def test_a_foreign_checkpoint_is_refused_by_name(stopped, tiny_store, tiny_encoder):
    run, folder = stopped
    message = r"learning_rate = 0\.001, now 0\.5; use the same settings \(--set learning_rate=0\.001\)"
    with pytest.raises(MixError, match=message):
        train(make_run(tiny_store, tiny_encoder, run.out, steps=4, learning_rate=0.5), join())
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(state | {"format": 99}))
    with pytest.raises(BadInputError, match="another format"):
        train(run, join())


def test_a_draw_made_since_the_checkpoint_is_refused(store_copy, tiny_encoder, tmp_path):
    run = make_run(store_copy, tiny_encoder, tmp_path / "run", steps=1)
    facts = train(run, join()).facts
    assert facts["data"].keys() == {"corpus", "una", "una.1"}
    store = Store.open(store_copy)
    with store.lock():
        store.remove("una.1")
    with pytest.raises(MixError, match=r"made with data = .*'una\.1'"):
        train(run, join())


def test_only_what_changes_no_number_may_differ(stopped, tiny_store, tiny_encoder):
    run, _ = stopped
    assert train(
        make_run(tiny_store, tiny_encoder, run.out, steps=4, workers=0, keep=5, log_every=7), join()
    ).steps


def start_process(recipe, store, encoder, out, *changes, ranks=1):
    """A training in a process of its own; what it says is in a file beside its folder."""
    common = ["batch=16", "log_every=1", "checkpoint_every=10"]
    place = ["--store", store, "--encoder", encoder, "--out", out, "--data", out.parent]
    return begun(out.with_suffix(".said"), recipe, *place, *options(*common, *changes), ranks=ranks)


def wait_for_step(out, step, process):
    while process.poll() is None:
        events = read_log(out / "log.jsonl")
        if events and events[-1]["step"] >= step:
            return
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 128 + 15), (signal.SIGINT, 128 + 2)]
)
def test_signals(tiny_store, tiny_encoder, tmp_path, number, code):
    def go(name):
        changes = ["steps=60", "evaluate_every=0"]
        return start_process("simcse", tiny_store, tiny_encoder, tmp_path / name, *changes)

    assert go("whole").wait(240) == 0
    process = go("run")
    wait_for_step(tmp_path / "run", 13, process)
    process.send_signal(number)
    assert process.wait(60) == code
    last = read_log(tmp_path / "run/log.jsonl")[-1]["step"]
    saved = [int(path.name[5:]) for path in checkpoint.checkpoints(tmp_path / "run/checkpoints")]
    if number != signal.SIGKILL:
        assert saved[-1] == last  # the grace checkpoint is of the last step
        line = f"interrupted after step {last}; the same command continues from there"
        assert (tmp_path / "run.said").read_text().splitlines()[-1] == line
    assert go("run").wait(240) == 0
    assert_same_bits(tmp_path / "run", tmp_path / "whole")
    assert numbers(tmp_path / "run") == numbers(tmp_path / "whole")


@pytest.mark.slow
def test_two_ranks_stopped_by_a_signal_continue_to_the_bit(tiny_store, tiny_encoder, tmp_path):
    """SIGTERM to the launcher, as a cluster does it; dev scores, best encoder and patience go on too."""

    def go(out):
        changes = ["steps=40", "learning_rate=1e-3", "held_out=0.2", "evaluate_every=5", "patience=9"]
        return start_process("esimcse", tiny_store, tiny_encoder, out, *changes, "momentum.queue=40", ranks=2)

    whole, run = tmp_path / "whole", tmp_path / "run"
    assert go(whole).wait(240) == 0
    process = go(run)
    wait_for_step(run, 13, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) != 0
    stopped_at = read_log(run / "log.jsonl")[-1]["step"]
    saved = checkpoint.checkpoints(run / "checkpoints")
    assert saved[-1].name == f"step-{stopped_at:07d}"  # the grace checkpoint
    assert go(run).wait(240) == 0
    for kind in ("best", "last"):
        assert_same_bits(run, whole, f"{kind}/model.safetensors")
    assert numbers(run) == numbers(whole)


@pytest.mark.slow
def test_two_ranks_mask_by_a_guide_what_one_does(store_copy, tiny_encoder, tmp_path):
    for of, seed in (("corpus", 1), ("una", 2), ("una.1", 3)):
        add_vectors(store_copy, of, draw(150, 4, seed=seed))
    changes = ["batch=16", "steps=10", "evaluate_every=0", "dropout=0.0", "log_every=1", "precision=float64"]
    changes += ["learning_rate=1e-3", 'positives=["una"]', "labels=kind", "guide.margin=0.5"]
    actual = []
    for ranks in (1, 2):
        out = tmp_path / str(ranks)
        place = ["--store", store_copy, "--encoder", tiny_encoder, "--out", out]
        finished("-m", "train", "gist", *place, *options(*changes), ranks=ranks)
        actual.append([event["loss"] for event in numbers(out)])
    np.testing.assert_allclose(actual[0], actual[1], rtol=1e-7)


@pytest.mark.slow
def test_another_number_of_ranks_continues_with_the_same_rows(tiny_store, tiny_encoder, tmp_path):
    changes = ["batch=16", "evaluate_every=0", "dropout=0.0", "log_every=1", "checkpoint_every=5", "epochs=2"]
    changes += ["precision=float64", "schedule=warmup-stable-decay", "decay_steps=1"]
    for name, steps, ranks in (("whole", 16, 1), ("run", 6, 1), ("run", 16, 2)):
        place = ["--store", tiny_store, "--encoder", tiny_encoder, "--out", tmp_path / name]
        finished("-m", "train", "simcse", *place, *options(*changes, f"steps={steps}"), ranks=ranks)
    whole, parts = numbers(tmp_path / "whole"), numbers(tmp_path / "run")
    assert [event["step"] for event in parts] == list(range(1, 17))
    np.testing.assert_allclose([e["loss"] for e in parts], [e["loss"] for e in whole], rtol=1e-8)
