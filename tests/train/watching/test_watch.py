"""When to stop."""

import json

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
