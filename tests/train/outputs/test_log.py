"""What a training prints while it runs."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from train.outputs.log import Log, Speed


def test_the_time_left_is_that_of_the_later_steps_and_of_the_evaluations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, seconds = Log(tmp_path, 0, 60), {"before": 40, "first": 30, "later": 2}
    with patch("time.perf_counter", return_value=0.0) as clock:
        speed = Speed(0)
        with speed.paused():
            clock.return_value += seconds["before"]
        for step, _ in enumerate(speed.waiting_for(range(10)), start=1):
            clock.return_value += seconds["first" if step == 1 else "later"]
            left = speed.left(50, 3)
    assert left == 50 * seconds["later"] + 3 * seconds["before"]
    log.write("before", 0, {"neighbours": 1.0})
    log.write("step", 10, {"loss": 0.5}, 150.0)
    log.close()
    lines = capsys.readouterr().err.rstrip("\n").splitlines()  # older rich ends a bar with a line break
    assert lines == ["before 0/60 neighbours 1", "step 10/60 loss 0.5 ETA 2.5 min"]
