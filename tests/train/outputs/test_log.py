"""What a training prints while it runs."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from train.outputs.log import Log


def test_the_time_left_is_that_of_the_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with patch("time.monotonic", return_value=0.0) as clock:
        log = Log(tmp_path, 0, 60)
        clock.return_value = 90.0  # the starting encoder is evaluated
        log.write("before", 0, {"neighbours": 1.0})
        clock.return_value = 120.0
        log.write("step", 10, {"loss": 0.5})
        log.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["before 0/60 neighbours 1", "step 10/60 loss 0.5 ETA 2.5 min"]
