"""A training run as a page: what it says of the events, and that messages are text."""

from train.outputs.run_page import as_page

EVENTS = [
    {"event": "before", "step": 0, "stsb_dev": 0.5},
    *({"event": "step", "step": n, "loss": 2.0 / n, "rate": 0.1, "waited": 0.0} for n in range(1, 1001)),
    {"event": "warning", "step": 7, "message": "<i>low\u202e"},
    {"event": "dev", "step": 500, "stsb_dev": 0.625},
    {"event": "dev", "step": 1000, "stsb_dev": 0.6},
]


def test_it_has_loss_rate_scores_and_warnings():
    page = as_page("una", EVENTS)
    assert page.count("<svg") == 3 and "1,000 optimiser steps." in page
    assert "loss from 2 to 0.002" in page and "stsb_dev from 0.5 to 0.6" in page
    assert "<td>0.5000</td><td>0.6250</td><td>500</td><td>0.6000</td>" in page
    assert "step 7: &lt;i&gt;low&lt;U+202E&gt;" in page and "<i>low" not in page
    assert len(page) < 60_000  # a thousand steps are a few hundred points


def test_a_run_without_scores_or_steps_has_fewer_pictures():
    page = as_page("una", [{"event": "step", "step": 1, "loss": 1.0, "rate": 0.1}])
    assert page.count("<svg") == 2 and "Dev score" not in page
    assert "0 optimiser steps." in as_page("una", [])
