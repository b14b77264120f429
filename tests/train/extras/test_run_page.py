"""A training run as a page: what it says of the events, and that messages are text."""

import re

from train.extras import plot


def as_page(name, events):
    """The page, whose cells are not called anything."""
    return re.sub(r'<td data-name="[^"]+"', "<td", plot.as_page(name, events))


EVENTS = [
    {"event": "before", "step": 0, "stsb_dev": 0.5},
    *(
        {"event": "step", "step": n, "loss": 2.0 / n, "learning_rate": 0.1, "waited": 0.0}
        for n in range(1, 1001)
    ),
    {"event": "warning", "step": 7, "message": "<i>low\u202e, `eval`"},
    {"event": "dev", "step": 500, "stsb_dev": 0.625},
    {"event": "dev", "step": 1000, "stsb_dev": 0.6},
]


def test_it_has_loss_rate_scores_and_warnings():
    page = as_page("una", EVENTS)
    assert (
        page.count("<svg") == 3 and "1,000 optimiser steps." in page and "<h1>Training run una</h1>" in page
    )
    assert "loss from 2 to 0.002" in page and "stsb_dev from 0.5 to 0.6" in page
    assert "<td>0.5000</td><td>0.6250</td><td>0.6000</td>" in page
    assert "step 7: &lt;i&gt;low&lt;U+202E&gt;, <code>eval</code>" in page and "<i>low" not in page
    assert "Verdict:" not in page
    judged = [*EVENTS, {"event": "verdict", "step": 1000, "outcome": "better", "message": "better <b>"}]
    assert "1,000 optimiser steps. Verdict: better &lt;b&gt;." in as_page("una", judged)
    assert "<code>best/</code> is its encoder" in as_page("una", judged)
    within_noise = [*EVENTS, judged[-1] | {"outcome": "same"}]
    assert "<code>best/</code> is the starting encoder" in as_page("una", within_noise)
    assert len(page) < 60_000  # a thousand steps are a few hundred points


def test_a_run_without_scores_or_steps_has_fewer_pictures():
    page = as_page("una", [{"event": "step", "step": 1, "loss": 1.0, "learning_rate": 0.1}])
    assert page.count("<svg") == 2 and "Dev score" not in page
    assert "0 optimiser steps." in as_page("una", [])


def test_each_measure_has_an_axis_and_best_is_the_step_that_the_first_decides():
    scored = [
        {"event": "before", "step": 0, "stsb_dev": 0.5, "median_rank": 285.0},
        {"event": "dev", "step": 10, "stsb_dev": 0.7, "median_rank": 30.0},
        {"event": "dev", "step": 20, "stsb_dev": 0.6, "median_rank": 300.0},
    ]
    page = as_page("una", scored)
    assert page.count("<svg") == 2 and page.count('class="mark"') == 2  # one picture a measure, both marked
    assert page.index("Dev score stsb_dev, which decides what is best") < page.index("Dev score median_rank<")
    assert "best step (10)" in page and "the upright line marks the best step, 10" in page
    assert "<td>0.5000</td><td>0.7000</td><td>0.6000</td>" in page
    assert "<td>285.0000</td><td>30.0000</td><td>300.0000</td>" in page  # of step 10, not its own maximum


def test_the_starting_encoder_may_be_the_best():
    page = as_page(
        "una", [{"event": "before", "step": 0, "stsb_dev": 0.5}, {"event": "dev", "step": 9, "stsb_dev": 0.4}]
    )
    assert "best step (0)" in page and "<td>0.5000</td><td>0.5000</td><td>0.4000</td>" in page
    assert "<svg" not in page  # two points are no curve


def test_cosines_are_drawn_before_and_at_the_best_step():
    def cosines(step, low):
        return {"event": "cosines", "step": step, "turned": [low, low + 0.1], "paraphrases": [0.9, 0.92]}

    scored = [{"event": "before", "step": 0, "a": 0.1}, {"event": "dev", "step": 9, "a": 0.4}]
    events = [*scored, cosines(0, 0.8), cosines(9, 0.5), cosines(12, 0.1)]
    page = as_page("una", events)
    assert page.count("<svg") == 2
    assert "texts before: turned: the middle one is 0.85; paraphrases: the middle one is 0.91" in page
    assert "at the best step, 9: turned: the middle one is 0.55" in page
    assert "<svg" not in as_page("una", [*scored, cosines(0, float("nan"))])


def test_all_losses_of_an_adaptation_are_drawn():
    events = [
        {"event": "step", "step": n, "teacher_loss": 2.0 / n, "agreement_loss": 1.0, "learning_rate": 0.1}
        for n in (5, 10, 15)
    ]
    page = as_page("una", events)
    assert "teacher_loss from 0.4 to 0.1333" in page and "agreement_loss from 1 to 1" in page
