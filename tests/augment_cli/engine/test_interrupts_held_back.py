"""Ctrl-C reaches the workers, too: it must find none that would still end with a traceback."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from augment_cli.engine import backends

# "SigBlk" of a process's main thread: its bit 2**(number - 1) says that a signal is held back.
STATUS = "/proc/self/status"


def holds_back(lines):
    mask = next(int(line.split()[1], 16) for line in lines if line.startswith("SigBlk"))
    return bool(mask >> (signal.SIGINT - 1) & 1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_workers_hold_it_back_from_their_first_instruction_on():
    calls = [{"filename": STATUS} for _ in range(4)]
    found = list(backends.run_in_processes(2, "linecache:getlines", calls, lambda: False, lambda call: None))
    assert [holds_back(lines) for lines in found] == [True] * 4
    assert not holds_back(Path(STATUS).read_text().splitlines())  # this process takes it again


def test_one_that_comes_while_they_are_started_is_not_lost():
    taken = []
    before = signal.signal(signal.SIGINT, lambda number, frame: taken.append(number))
    try:
        with backends._interrupts_held_back():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            for _ in range(1000):
                os.getpid()
            assert taken == []
        for _ in range(1000):
            os.getpid()
        assert taken == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
