"""What a run warns of: each sign once, and not without it."""

import pytest

from train.watching.evaluate import HarmWatch

START = {"effective_rank": 300.0, "anisotropy": 0.02, "neighbours": 1.0, "stsb_dev": 0.8}


@pytest.fixture
def watched():
    """A watch of a run of 200 steps, and what it has said."""
    said = []
    return HarmWatch(200, lambda step, message: said.append((step, message))), said


def test_a_loss_of_nearly_nothing_is_said_once_and_only_early(watched):
    harm, said = watched
    for loss, step in [(1e-4, 9), (2e-3, 12), (1e-4, 51), (1e-4, 200)]:
        harm.loss(loss, step)
    assert not said
    harm.loss(1e-4, 10)
    harm.loss(1e-5, 20)
    assert [(step, "the loss is 1.0e-04 above the least it can be" in message) for step, message in said] == [
        (10, True)
    ]
    short, said_too = HarmWatch(30, lambda *parts: said_too.append(parts)), []
    short.loss(1e-4, 20)  # a quarter of a short run would be over before the mean says anything
    assert len(said_too) == 1


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"effective_rank": 250.0}, "the effective rank fell from 300 to 250"),
        ({"anisotropy": 0.3}, "the mean cosine of two texts rose from 0.02 to 0.30"),
        ({"neighbours": 0.94}, "what is near in the corpus stays together less than before"),
    ],
)
def test_a_space_that_loses_its_shape_is_said_once(watched, now, message):
    harm, said = watched
    harm.scores(START, START, 25)
    harm.scores(START, START | {"effective_rank": 280.0, "anisotropy": 0.06, "neighbours": 0.96}, 50)
    assert not said
    harm.scores(START, START | now, 75)
    harm.scores(START, START | now, 100)
    assert [(step, message in text) for step, text in said] == [(75, True)]


def test_each_number_of_unlearning_says_what_it_is(watched):
    harm, said = watched
    before = START | {"shared_neighbours": 0.4, "half_neighbours": 0.1}
    harm.scores(before, START | {"neighbours": 0.9, "shared_neighbours": 0.39, "half_neighbours": 0.09}, 50)
    assert "(neighbours, the lesser ratio, 0.90: " in said[0][1]
    assert "shared_neighbours 0.400 before, 0.390 now; half_neighbours 0.100 before, 0.090 now)" in said[0][1]


def test_what_was_not_measured_is_not_compared(watched):
    harm, said = watched
    harm.scores({"stsb_dev": 0.8}, {"stsb_dev": 0.1}, 25)
    harm.scores({}, START, 25)
    assert not said
