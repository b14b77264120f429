"""A rank that hangs is named, one with long work of its own is not, and a run of one rank has no watchdog."""

import os
import re
import signal
import threading

import pytest

from augment_cli.errors import MissingError
from augment_cli.process import watchdog
from augment_cli.process.watchdog import Watchdog


class Board(dict):
    def set(self, key, value):
        self[key] = value

    def check(self, keys):
        return all(key in self for key in keys)


@pytest.fixture
def ends(monkeypatch):
    codes, ended = [], threading.Event()

    def leave(code):
        codes.append(code)
        ended.set()

    monkeypatch.setattr(watchdog.os, "_exit", leave)
    return codes, ended


def test_a_rank_that_does_not_come_is_named(ends, capsys):
    codes, ended = ends
    board = Board()
    here, other = (Watchdog(rank, 2, board) for rank in (0, 1))
    with here.watching(0.05), other.watching(60), here.busy(False), other.busy(False):
        other._tell(board)
        stop = threading.Event()

        def tell():
            while not stop.wait(0.005):
                other._tell(board)

        telling = threading.Thread(target=tell)
        telling.start()
        with here.waiting():
            assert ended.wait(60)
        stop.set()
        telling.join()
    assert set(codes) == {6}
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith(f"error: rank 1 (process {os.getpid()} on ") and "does not come on" in line


def test_a_rank_that_is_stopped_or_never_came_is_named(ends, capsys):
    codes, ended = ends
    here = Watchdog(0, 3, board := Board())
    Watchdog(1, 3, board)._tell(board)  # once, and never again
    with here.watching(0.05), here.waiting():
        assert ended.wait(60)
    assert set(codes) == {6}
    line = capsys.readouterr().err.splitlines()[0]
    assert re.match(r"error: rank 1 \(process \d+ on \S+\) gives no sign of life; rank 2 gives no", line), (
        line
    )


@pytest.mark.parametrize(("seconds", "ranks"), [(0, 2), (5, 1)])
def test_it_is_off(seconds, ranks):
    before = threading.active_count()
    with Watchdog(0, ranks, Board()).watching(seconds):
        assert threading.active_count() == before


def test_a_rank_with_work_of_its_own_is_waited_for():
    here, other = Watchdog(0, 2), Watchdog(1, 2)
    board = Board()
    for one in (here, other):
        one._tell(board)
    before = here._read(board)
    with here.waiting():
        for one in (here, other):
            one._tell(board)
        assert here._late(before, here._read(board)) == {}  # the other is busy, as all are but in the steps
        with other.busy(False):
            for one in (here, other):
                one._tell(board)
            assert list(here._late(before, here._read(board))) == [1]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("[gloo/transport/tcp/pair.cc:537] Read error: Connection reset by peer", MissingError),
        ("NCCL communicator was aborted: remote process exited", MissingError),
        ("mat1 and mat2 shapes cannot be multiplied", RuntimeError),
    ],
)
def test_that_another_rank_died_is_said_in_one_line(said, error):
    @watchdog.watched("gather")
    class Ranks:
        watchdog = Watchdog()

        def gather(self):
            raise RuntimeError(said)

    with pytest.raises(error) as found:
        Ranks().gather()
    assert ("another process of this training has ended" in str(found.value)) == (error is MissingError)


def test_a_rank_whose_launcher_was_killed_asks_itself_to_stop_but_not_while_it_is_busy(monkeypatch):
    class Gone(Board):
        def set(self, key, value):
            raise RuntimeError("Broken pipe")

    asked, stopped = [], threading.Event()

    def kill(*what):
        asked.append(what)
        stopped.set()

    monkeypatch.setattr(watchdog.os, "kill", kill)
    here = Watchdog(0, 2, Gone())
    with here.watching(0.01):
        assert not stopped.wait(0.2)
        with here.busy(False):
            assert stopped.wait(60)
    assert asked == [(os.getpid(), signal.SIGTERM)]
