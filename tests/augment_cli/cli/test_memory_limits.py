"""Too little memory, as a person meets it: one line, exit 6, and the same command finishes with more."""

import contextlib
import resource
import subprocess
import sys

import pyarrow as pa
import pytest

from augment_cli import cli
from augment_cli.engine.engine import LEAST_FOR_MODELS, LEAST_FOR_PARSES
from augment_cli.store.store import Store
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.places import REPOSITORY


def slow(*values):
    """Values for the slow suite."""
    return pytest.param(*values, marks=pytest.mark.slow)


def limited(megabytes, folder, *words, **environment):
    """A program of ours, ended by itself, in a process with so much address space."""
    limit = megabytes * 10**6
    result = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert "Traceback" not in result.stderr, result.stderr
    return result


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="macOS does not keep to RLIMIT_AS")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 8 failed"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_it_is_not_our_fault(command, store, monkeypatch, error):
    def fail(path):
        raise error

    monkeypatch.setattr(Store, "open", fail)
    result = command("status", "--store", store.path)
    assert result.returncode == 6 and "memory ran out" in result.stderr
    assert "Traceback" not in result.stderr


def test_other_errors_are_still_ours(command, store, monkeypatch):
    def fail(path):
        raise RuntimeError("of another kind")

    monkeypatch.setattr(Store, "open", fail)
    result = command("status", "--store", store.path)
    assert result.returncode == 1 and "Traceback" in result.stderr


def test_nothing_is_loaded_where_libraries_would_fail(monkeypatch, capsys):
    monkeypatch.setattr(cli, "load_commands", lambda: pytest.fail("a library would fail while it is loaded"))
    monkeypatch.setattr(cli, "handled", lambda line: contextlib.nullcontext())
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (300 * 10**6, resource.RLIM_INFINITY))
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 6
    assert "allows 300 MB of address space" in capsys.readouterr().err


@on_linux
@pytest.mark.parametrize(
    ("megabytes", "words", "least"),
    [
        slow(1500, ["embed", "--model", str(REPOSITORY / "data/models/encoder")], LEAST_FOR_MODELS),
        slow(2000, ["embed", "--model", str(REPOSITORY / "data/models/encoder")], LEAST_FOR_MODELS),
        slow(1500, ["paraphrase", "--model", str(REPOSITORY / "data/models/encoder")], LEAST_FOR_MODELS),
        slow(2000, ["paraphrase", "--model", str(REPOSITORY / "data/models/encoder")], LEAST_FOR_MODELS),
        (1500, ["parse"], LEAST_FOR_PARSES),
        slow(2000, ["parse"], LEAST_FOR_PARSES),
    ],
)
def test_models_and_parses_say_how_much_address_space_they_need(tmp_path, words, least, megabytes):
    result = limited(megabytes, tmp_path, "augment_cli", *words, "--jobs", "1")
    assert result.returncode == 6, result.stderr
    assert f"allows {megabytes:,} MB of address space" in result.stderr
    assert f"at least {least / 1e6:,.0f} MB are needed" in result.stderr


@on_linux
@pytest.mark.parametrize(
    ("words", "megabytes", "code"),
    [
        ("train simcse --encoder none", 300, 6),
        ("train simcse --encoder none", 1500, 6),
        slow("train distil --out x", 1500, 6),
        slow("eval none --minimal-pairs", 300, 6),
        ("eval none --minimal-pairs", 1000, 6),
        slow("eval tasks", 300, 6),
        ("eval tasks", 1000, 0),
    ],
)
def test_trainer_and_evaluation_say_so_too(tmp_path, words, megabytes, code):
    result = limited(megabytes, tmp_path, *words.split(), PYTHONPATH=str(REPOSITORY))
    assert result.returncode == code, result.stderr
    assert code == 0 or f"error: this shell allows {megabytes:,} MB of address space" in result.stderr


@on_linux
@pytest.mark.parametrize("megabytes", [300, slow(500), slow(700)])
def test_a_limit_on_address_space(tmp_path, megabytes):
    result = limited(megabytes, tmp_path, "augment_cli", "una", "--jobs", "1")
    if megabytes > 600 and result.returncode == 0:
        return  # it is enough where libraries start few threads
    assert result.returncode == 6, result.stderr
    said = f"allows {megabytes:,} MB of address space" if megabytes < 600 else "memory ran out"
    assert said in result.stderr
