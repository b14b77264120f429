"""When to stop."""

import json
import math

import pytest

from train.watching.watch import DivergedError, Watch


def test_collapse_is_a_tiny_loss_with_a_falling_score():
    watch = Watch()
    watch.check(0.5, 1)
    assert watch.score(0.7, 10)
    assert not watch.score(0.5, 20)  # falling, but the loss is no sign of a shortcut
    for step in range(21, 121):
        watch.check(1e-5, step)
    assert not watch.score(0.68, 30)
    with pytest.raises(DivergedError, match="collapse"):
        watch.score(0.6, 40)
    assert Watch.from_json(json.loads(json.dumps(watch.as_json()))) == watch


def test_falling_below_the_starting_encoder_is_no_collapse():
    watch = Watch(loss=1e-5)
    assert watch.score(0.9, 0)
    assert not watch.score(0.6, 10)
    with pytest.raises(DivergedError, match=r"fell from 0\.6000 to 0\.5000"):
        watch.score(0.5, 20)
    older = {key: value for key, value in Watch(best=0.7, best_step=5).as_json().items() if key != "reached"}
    assert Watch.from_json(older).reached == 0.7


def test_a_regressions_small_loss_is_no_collapse():
    watch = Watch()
    for step, score in enumerate([0.8, 0.7], start=1):
        watch.check(1e-6, step, collapses=False)
        watch.score(score, step)
    assert watch.loss == math.inf
    with pytest.raises(DivergedError, match="the loss is nan"):
        watch.check(math.nan, 3, collapses=False)
