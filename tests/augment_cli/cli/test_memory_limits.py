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

ENCODER = REPOSITORY / "data/models/encoder"


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 8 failed"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
        RuntimeError("of another kind"),
    ],
)
def test_it_is_not_our_fault_but_other_errors_are(command, store, monkeypatch, error):
    def fail(path):
        raise error

    monkeypatch.setattr(Store, "open", fail)
    result = command("status", "--store", store.path)
    is_ours = str(error) == "of another kind"
    assert result.returncode == (1 if is_ours else 6) and ("Traceback" in result.stderr) == is_ours
    assert ("memory ran out" in result.stderr) != is_ours


def test_nothing_is_loaded_where_libraries_would_fail(monkeypatch, capsys):
    monkeypatch.setattr(cli, "load_commands", lambda: pytest.fail("a library would fail while it is loaded"))
    monkeypatch.setattr(cli, "handled", lambda line: contextlib.nullcontext())
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (300 * 10**6, resource.RLIM_INFINITY))
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 6
    assert "allows 300 MB of address space" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not keep to RLIMIT_AS")
@pytest.mark.parametrize(
    ("words", "megabytes", "least"),
    [
        ("augment_cli una --jobs 1", 300, None),
        slow(f"augment_cli paraphrase --model {ENCODER} --jobs 1", 2000, LEAST_FOR_MODELS),
        slow("augment_cli parse --jobs 1", 1500, LEAST_FOR_PARSES),
        ("train simcse --encoder none", 1500, None),
        slow("train distil --out x", 1500, None),
    ],
)
def test_a_limit_on_address_space_is_said_with_what_is_needed(tmp_path, words, megabytes, least):
    """More limits are attacks in tests/faults/campaign/interruptions.toml."""
    limit = megabytes * 10**6
    result = subprocess.run(
        [sys.executable, "-m", *words.split()],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert result.returncode == 6 and "Traceback" not in result.stderr, result.stderr
    assert f"allows {megabytes:,} MB of address space" in result.stderr
    assert least is None or f"at least {least / 1e6:,.0f} MB are needed" in result.stderr
