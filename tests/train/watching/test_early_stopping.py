"""When to stop."""

import json
import math

import pytest

from train.watching.early_stopping import DivergedError, EarlyStopping


def test_collapse_is_a_tiny_loss_with_a_falling_score():
    watch = EarlyStopping()
    watch.check(0.5, 1)
    assert watch.score(0.7, 10)
    assert not watch.score(0.5, 20)  # falling, but the loss is no sign of a shortcut
    for step in range(21, 121):
        watch.check(1e-5, step)
    assert not watch.score(0.68, 30)
    assert watch.is_patient(0) and not watch.collapsed
    assert not watch.score(0.6, 40)
    assert watch.collapsed == 40 and not watch.is_patient(0)
    assert EarlyStopping.from_json(json.loads(json.dumps(watch.as_json()))) == watch


def test_falling_below_the_starting_encoder_is_no_collapse():
    watch = EarlyStopping(loss=1e-5)
    assert watch.score(0.9, 0)
    assert not watch.score(0.6, 10)
    assert not watch.score(0.5, 20)
    assert watch.collapsed == 20
    assert "fell from 0.6000 to 0.5000" in watch.collapse(0.5)
    older = EarlyStopping(best=0.7, best_step=5).as_json()
    del older["reached"]
    assert EarlyStopping.from_json(older).reached == 0.7


def test_a_regressions_small_loss_is_no_collapse():
    watch = EarlyStopping()
    for step, score in enumerate([0.8, 0.7], start=1):
        watch.check(1e-6, step, floor=-math.inf)
        watch.score(score, step)
    assert watch.loss == math.inf and not watch.collapsed
    with pytest.raises(DivergedError, match=r"the loss is nan.*; best/ holds the best .* of step 1$"):
        watch.check(math.nan, 3, floor=-math.inf)


@pytest.mark.parametrize(("loss", "floor", "collapsed"), [(-0.5, -1.0, 0), (-5, -5, 20), (-5, -math.inf, 0)])
def test_a_negative_loss_collapses_at_its_own_floor(loss, floor, collapsed):
    watch = EarlyStopping()
    for step, score in [(10, 0.8), (20, 0.5)]:
        watch.check(loss, step, floor=floor)
        watch.score(score, step)
    assert watch.collapsed == collapsed


@pytest.mark.parametrize(("step", "remedy"), [(1, "No step was made yet"), (2, "Lower learning_rate")])
def test_before_the_first_update_the_rate_is_not_blamed(step, remedy):
    with pytest.raises(DivergedError, match=f"step {step}: the loss is nan. {remedy}") as error:
        EarlyStopping().check(math.nan, step)
    assert error.value.exit_code == 3  # 1 is a fault of ours
