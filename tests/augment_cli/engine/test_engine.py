"""Engines: backends, and the work between them."""

import os
import signal
import socket
import sys
import threading
import types
from pathlib import Path

import pytest

from augment_cli.engine import backends
from augment_cli.engine.backends import call_elsewhere, versions_of
from augment_cli.engine.engine import Engine, _Pace
from augment_cli.errors import IncompleteError, MixError, UsageError
from augment_cli.store.settings import Settings

SQUARE = "tests.helpers.engine_calls:square"


def run(engine, calls, function=SQUARE):
    results = []
    engine.run(function, calls, results.append)
    return sorted(results)


@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (3, "loky"), (2, "threading")])
def test_every_result_once(jobs, backend):
    assert run(Engine(jobs, backend), [{"number": n} for n in range(9)]) == [n * n for n in range(9)]
    assert run(Engine(jobs, backend), []) == []


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    calls = [{"number": n, "flag": str(tmp_path / "flag")} for n in range(5)]
    assert run(Engine(2), calls, "tests.helpers.engine_calls:kill_once") == list(range(5))


@pytest.mark.slow  # loky looks at its workers' memory once a second
@pytest.mark.timeout(120)
def test_a_worker_that_grows_is_replaced():
    """Warnings are errors here, as they may be for whoever imports this."""
    calls = [{"number": n, "megabytes": 400, "seconds": 1.1} for n in range(8)]
    assert run(Engine(2), calls, "tests.helpers.engine_calls:grow") == list(range(8))


def test_a_call_that_kills_its_workers_fails_alone(tmp_path):
    results = []
    calls = [{"number": n, "deadly": (3, 6)} for n in range(9)]
    with pytest.raises(IncompleteError, match="2 of 9 pieces of work killed every worker"):
        Engine(2).run(SQUARE, calls, results.append)
    assert sorted(results) == [n * n for n in range(9) if n not in (3, 6)]


@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "loky"), (2, "threading")])
def test_an_error_of_a_call_reaches_the_parent(jobs, backend):
    with pytest.raises(ValueError, match="number"):
        run(Engine(jobs, backend), [{"number": n} for n in range(4)], "tests.helpers.engine_calls:fail")


@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "loky"), (2, "threading")])
def test_ctrl_c_finishes_running_calls_and_begins_no_further_one(jobs, backend, capsys):
    results, before = [], signal.getsignal(signal.SIGINT)

    def done(result):
        results.append(result)
        if len(results) == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Engine(jobs, backend).run(SQUARE, [{"number": n, "seconds": 0.01} for n in range(50)], done)
    assert 2 <= len(results) <= 2 + 2 * jobs + 1
    assert "Finishing the running parts" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_stops_at_once():
    assert _Pace(2, "parts").as_words() == "the running parts, the first ones, begun 0 s ago"

    def done(result):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")

    with pytest.raises(KeyboardInterrupt):
        Engine(1).run(SQUARE, [{"number": 1}, {"number": 2}], done)


def test_an_address_of_ray_is_a_host_and_a_port(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    with pytest.raises(UsageError, match="give that of the cluster's head node"):
        run(Engine(backend="ray", address="auto"), [{"number": 1}])


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
