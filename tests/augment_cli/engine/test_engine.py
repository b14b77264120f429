"""Every call's result reaches the parent once, whatever runs it and whatever dies on the way."""

import signal
import sys
import types

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, MissingError, UsageError

SQUARE = "tests.helpers.engine_calls:square"


def run(engine, calls, function=SQUARE):
    results = []
    engine.run(function, calls, results.append)
    return sorted(results)


@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "loky"), (3, "loky"), (2, "threading")])
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


@pytest.mark.parametrize(
    ("finished", "unit", "expected"),
    [
        (0, "parts", "the running parts, the first ones, begun 12 s ago"),
        (4, "pieces", "the running pieces, up to 12 s"),
        (0, "batches", "the running batches, a few seconds each"),
    ],
)
def test_ctrl_c_says_how_long_it_takes(monkeypatch, capsys, finished, unit, expected):
    clock = iter([0.0, 12.0])
    monkeypatch.setattr("augment_cli.engine.engine.time.monotonic", lambda: next(clock))
    results = []

    def results_of(engine, function, calls, asked_to_stop, failed):
        for number in range(len(calls)):
            if number == finished:
                signal.raise_signal(signal.SIGINT)
            yield number

    monkeypatch.setattr(Engine, "_results", results_of)
    with pytest.raises(KeyboardInterrupt):
        Engine(2).run(SQUARE, [{}] * 5, results.append, unit=unit)
    assert f"Finishing {expected}; Ctrl-C again stops now." in capsys.readouterr().err


def test_ctrl_c_twice_stops_at_once():
    def done(result):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")

    with pytest.raises(KeyboardInterrupt):
        Engine(1).run(SQUARE, [{"number": 1}, {"number": 2}], done)


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "slurm"},
        {"backend": "dask"},
        {"scheduler": "tcp://x:1"},
        {"backend": "ray"},
        {"address": "x:1"},
        {"backend": "ray", "scheduler": "tcp://x:1"},
    ],
)
def test_impossible_engines_are_refused(options):
    with pytest.raises(UsageError, match="--backend"):
        Engine(1, **options)


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("ray", {"backend": "ray", "address": "127.0.0.1:1"}),
        ("distributed", {"backend": "dask", "scheduler": "tcp://127.0.0.1:1"}),
    ],
)
def test_a_machine_without_the_library_says_how_to_get_it(monkeypatch, module, options):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingError, match=rf"pip install 'augment-cli\[{options['backend']}\]'"):
        run(Engine(**options), [{"number": 1}])


def test_an_address_of_ray_is_a_host_and_a_port(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    with pytest.raises(UsageError, match="give that of the cluster's head node"):
        run(Engine(backend="ray", address="auto"), [{"number": 1}])
