"""What tests of the trainer share: random arrays, the cosine, quick runs in this process."""

import math

import numpy as np

from train.loading import make_recipe
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import Run
from train.run import train

QUICK = {"batch": 16, "max_length": 16, "learning_rate": 1e-3, "evaluate_every": 0}
LOGGED = {"batch": 16, "max_length": 16, "evaluate_every": 0, "log_every": 1, "pooling": "mean", "threads": 1}


def draw(*shape, seed=0):
    """Normal numbers in float64."""
    return np.random.default_rng(seed).normal(size=shape)


def cos(a, b):
    """The cosine of two vectors."""
    return float(a @ b) / (math.sqrt(float(a @ a)) * math.sqrt(float(b @ b)))


def quick_run(store, encoder, out, **values):
    """The result of a run with settings on top of `QUICK`."""
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
