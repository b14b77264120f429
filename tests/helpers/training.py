"""What tests of the trainer share: random arrays, slow losses, quick runs, commands of whole processes."""

import contextlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import train.run as run_module
from tests.helpers.places import REPOSITORY
from train.loading import make_recipe
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import Run
from train.run import train

QUICK = {"batch": 16, "max_length": 16, "learning_rate": 1e-3, "evaluate_every": 0}
LOGGED = {"batch": 16, "max_length": 16, "evaluate_every": 0, "log_every": 1, "pooling": "mean", "threads": 1}


TOPICS = [
    "river water bank flood rain",
    "engine wheel brake road tyre",
    "flour oven bread salt yeast",
    "violin cello chord choir opera",
    "court judge appeal verdict jury",
    "pollen stamen petal seed leaf",
]


def sentence(row):
    """Of one of the topics, by the row; no two are equal."""
    words = np.random.default_rng(row).permutation(TOPICS[row % len(TOPICS)].split())[:4]
    return " ".join([*words, f"number{row}"])


def draw(*shape, seed=0):
    """Normal numbers in float64."""
    return np.random.default_rng(seed).normal(size=shape)


def cos(a, b):
    return float(a @ b) / (math.sqrt(float(a @ a)) * math.sqrt(float(b @ b)))


def numeric_gradient(function, x, step=1e-6):
    """Central differences of a float64 function of one array."""
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            result[index] += sign * function(moved) / (2 * step)
    return result


def check_gradients(loss, slow, arrays, atol=1e-8, **value):
    """A loss and its gradients are those of the same function, slow and of arrays; returns the losses."""
    inputs = [torch.tensor(array, requires_grad=True) for array in arrays]
    losses = loss(*inputs).reshape(-1)
    np.testing.assert_allclose(losses.detach(), np.reshape(slow(*arrays), -1), **({"rtol": 1e-12} | value))
    weights = draw(len(losses), seed=4)  # a weighted sum, so that no row's gradient hides another's
    (losses * torch.tensor(weights)).sum().backward()
    for side, array in enumerate(arrays):

        def total(moved, side=side):
            return float(weights @ np.reshape(slow(*arrays[:side], moved, *arrays[side + 1 :]), -1))

        np.testing.assert_allclose(inputs[side].grad, numeric_gradient(total, array), atol=atol)
    return losses.detach()


def some_excluded(rows, columns, own):
    excluded = np.random.default_rng(3).random((rows, columns)) < 0.2
    excluded[np.arange(rows), own] = False
    return excluded


def check_with_columns(loss, reference, negatives):
    """Value and gradient of a loss of the layout `columns`; examples/loss has its test by this, too."""
    rows, d = 5, 4
    z, candidates = draw(rows, d), draw(rows * (1 + negatives), d, seed=1)
    excluded = some_excluded(rows, len(candidates), np.arange(rows))
    logit_bias = draw(*excluded.shape, seed=2) if negatives else np.zeros(excluded.shape)
    logit_bias[:, :rows] = 0
    check_gradients(
        lambda *pair: loss(*pair, torch.tensor(excluded), 0.5, torch.tensor(logit_bias)),
        lambda *pair: reference(*pair, excluded, 0.5, logit_bias),
        [z, candidates],
        atol=2e-8,
    )


def quick_run(store, encoder, out, **values):
    return train(Run(make_recipe(QUICK | values), store, str(encoder), out), join())


def logged_run(store, encoder, out, values):
    """The result of a run with settings on top of `LOGGED`, and its log's events but for the verdict."""
    result = train(Run(make_recipe(LOGGED | values), store, str(encoder), out), join())
    return result, logged_steps(out)


def logged_steps(out):
    """The events of a run's log before the verdict, which must be the last."""
    *events, verdict = read_log(out / "log.jsonl")
    assert verdict["event"] == "verdict" and all(event["event"] != "verdict" for event in events)
    return events


def assert_same_bits(first, second, file="last/model.safetensors"):
    first, second = load_file(first / file), load_file(second / file)
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@contextlib.contextmanager
def ended_before(step, error):
    """An error is raised before a step of the training inside, and expected."""
    original = run_module.learning_rate_at

    def end(number, steps, recipe):
        if number == step:
            raise error
        return original(number, steps, recipe)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(error):
        patch.setattr(run_module, "learning_rate_at", end)
        yield


def options(*changes):
    """Changes of a recipe, such as batch=16, as words of the command."""
    return [word for change in changes for word in ("--set", change)]


def python(*words, ranks=1):
    """A command of Python as words, under torchrun where there are several ranks."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks] if ranks > 1 else []
    return [str(word) for word in (sys.executable, *launcher, *words)]


def variables():
    """The environment of a process of one thread that finds this checkout."""
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}


def finished(*words, ranks=1, **environment):
    """What a process of Python printed, which must end well."""
    done = subprocess.run(
        python(*words, ranks=ranks), cwd=REPOSITORY, env=variables() | environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def begun(said, *words, ranks=1):
    """A training in a process of its own, which writes what it says to the end of a file."""
    with said.open("a") as file:
        command = python("-m", "train", *words, ranks=ranks)
        return subprocess.Popen(command, cwd=REPOSITORY, env=variables(), stdout=file, stderr=file)


TAU = 0.05


def reference_info_nce(z, candidates, excluded, tau, logit_bias):
    losses = []
    for i in range(len(z)):
        terms = {
            j: math.exp(cos(z[i], candidates[j]) / tau + logit_bias[i, j])
            for j in range(len(candidates))
            if not excluded[i, j]
        }
        losses.append(-math.log(terms[i] / sum(terms.values())))
    return np.array(losses)


def reference_symmetric(z, candidates, excluded, tau, logit_bias):
    n = len(z)
    back = reference_info_nce(candidates[:n], z, excluded[:, :n].T, tau, np.zeros((n, n)))
    return (reference_info_nce(z, candidates, excluded, tau, logit_bias) + back) / 2


def reference_nt_xent(first, second, excluded, tau):
    views, m = np.concatenate([first, second]), len(first)
    losses = []
    for i in range(2 * m):
        terms = {
            j: math.exp(cos(views[i], views[j]) / tau) for j in range(2 * m) if j != i and not excluded[i, j]
        }
        losses.append(-math.log(terms[(i + m) % (2 * m)] / sum(terms.values())))
    return np.array(losses)
