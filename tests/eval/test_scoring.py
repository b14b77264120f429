"""What a model is called in tables, and what a log is told while it is scored."""

import io
from unittest.mock import patch

from rich.console import Console
from rich.progress import Progress

from eval.scoring import _Bars, split_label


def test_a_log_gets_one_line_with_the_time_left_that_the_first_piece_does_not_spoil(capsys):
    with (
        patch("time.perf_counter", return_value=0.0) as clock,
        Progress(console=Console(file=io.StringIO())) as bars,
    ):
        _Bars(bars, "before")
        one = _Bars(bars, "mine")
        one.start("seeds", 10)
        for seconds in [100, *[12] * 9]:
            clock.return_value += seconds
            one.advance(1)
        assert [task.description for task in bars.tasks] == ["mine: seeds"]  # one line at a time
    assert capsys.readouterr().err.splitlines() == ["mine: 10 seeds", "mine: 2 of 10 seeds, ETA 1.6 min"]


def test_labels_come_from_the_path_unless_given(tmp_path):
    assert split_label("una=runs/x") == ("una", "runs/x")
    assert split_label("runs/una/best/") == ("una-best", "runs/una/best/")
    assert split_label("sentence-transformers/all-MiniLM-L6-v2")[0] == "all-MiniLM-L6-v2"
    folder = tmp_path / "lr=3"
    folder.mkdir()
    assert split_label(str(folder)) == ("lr=3", str(folder))
