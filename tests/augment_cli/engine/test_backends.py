"""What workers hold back, and what a cluster's must have: no traceback of Ctrl-C, the same libraries."""

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

from augment_cli.engine import backends
from augment_cli.engine.backends import call_elsewhere, versions_of
from augment_cli.errors import MixError
from augment_cli.store.settings import Settings

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


def test_versions_are_those_of_the_settings_wherever_they_stand_in_a_call():
    settings = Settings("una", 1, libraries={"polars": "1", "spacy": "2"})
    own = {name: backends._installed(name) for name in ("augment-cli", "numpy", "pyarrow")}
    for arguments in ({"settings": settings}, {"sides": {"pack": ("options", settings)}}, {"a": [settings]}):
        assert versions_of([arguments]) == own | {"polars": "1", "spacy": "2"}
    assert versions_of([{"index": 3, "libraries": "none"}]) == versions_of([]) == own


def test_the_same_versions_are_called():
    assert call_elsewhere("os.path:join", {"a": "x"}, versions_of([])) == "x"


@pytest.mark.parametrize(("name", "there"), [("numpy", None), ("a-library", "(not installed)")])
def test_another_version_is_refused_before_anything_is_made(name, there):
    here = f"worker {socket.gethostname()} (process {os.getpid()}) has {name} "
    expected = here + (there or backends._installed(name)) + ", and this machine 0.0.1"
    with pytest.raises(MixError) as refusal:
        call_elsewhere("os:abort", {}, {name: "0.0.1"})
    assert str(refusal.value).startswith(expected) and "\n" not in str(refusal.value)
