"""What is said while a command runs: progress in plain lines, and each note once."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.process import reporter as lines
from augment_cli.runs.run import make_run
from augment_cli.session import Session, Silent


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Loading took 20 s, the first two rows arrived with it: they tell nothing of the rate.
        (
            300,
            [
                "2 of 300 rows",
                "102 of 300 rows, 10 rows/s, 20 s left",
                "117 of 300 rows, 7.7 rows/s, 24 s left",
            ],
        ),
        (None, ["2 rows", "102 rows, 10 rows/s", "117 rows, 7.7 rows/s"]),
    ],
)
def test_the_rate_leaves_out_the_time_that_a_model_takes_to_load(rows, expected, monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(lines.time, "monotonic", lambda: now[0])
    with lines.Bars().progress("paraphrase", rows) as done:
        for at, count in ((120, 2), (121, 10), (130, 90), (132, 5), (135, 10)):
            now[0] = at
            done(count)
    assert capsys.readouterr().err.splitlines() == [f"paraphrase: {line}" for line in expected]


class Recording(Silent):
    def __init__(self):
        self.said = []

    def say(self, message):
        self.said.append(message)


def test_a_note_that_is_true_of_several_stages_is_said_once(tmp_path):
    said = Recording()
    with Session(tmp_path / "store", Engine(1), said, sample=True) as session:
        session.ingest()
        session.augment(make_run("una"))
        session.augment(make_run("una", beta="0.3"), stage="una-easy")
    assert sum("joins its own" in line for line in said.said) == 1
