"""Every command ends alike: streams that are closed, full or gone, a line, an exit code."""

import errno
import subprocess
import sys

import pytest

from augment_cli.errors import BadInputError, MissingError
from augment_cli.process.at_start import NO_WINDOWS
from augment_cli.process.exit_codes import Command, means_no_memory
from benchmarks.reproduce import command as reproduce
from data import fetch
from eval import command as evaluate
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.places import REPOSITORY
from train import cli as train

COMMANDS = ["augment_cli --help", "augment_cli list", "train --help", "eval --help", "eval tasks --json"]


def some_quickly(*quick):
    """Every command; those that are not named are left to the slow suite."""
    marked = [pytest.param(words, marks=() if words in quick else pytest.mark.slow) for words in COMMANDS]
    return pytest.mark.parametrize("words", marked)


def shell(command, tmp_path):
    return subprocess.run(
        ["/bin/bash", "-c", command.replace("PYTHON", sys.executable)],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@some_quickly("augment_cli --help", "train --help")
def test_a_full_disk(tmp_path, words):
    result = shell(f"PYTHON -m {words} > /dev/full", tmp_path)
    assert result.returncode == 6 and len(result.stderr.splitlines()) == 1, result.stderr
    assert "standard output cannot be written (No space left on device)" in result.stderr


@some_quickly("augment_cli --help")
def test_a_closed_output_is_nobody_who_reads(tmp_path, words):
    result = shell(f"PYTHON -m {words} >&-", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@some_quickly("augment_cli --help", "eval tasks --json")
def test_a_reader_that_has_gone(tmp_path, words):
    result = shell(f"{{ PYTHON -m {words}; echo $? > code; }} | true", tmp_path)
    assert (tmp_path / "code").read_text() == "0\n" and result.stderr == ""


@pytest.mark.slow
def test_all_streams_are_closed(tmp_path):
    (tmp_path / "in.txt").write_text("The heron waits.\nThe river flows on.\n")
    made = shell("PYTHON -m augment_cli ingest --corpus in.txt <&- >&- 2>&-", tmp_path)
    assert made.returncode == 0
    assert shell("PYTHON -m augment_cli verify", tmp_path).returncode == 0


def test_a_closed_input_is_an_empty_one(tmp_path):
    result = shell("PYTHON -m augment_cli ingest --corpus - <&-", tmp_path)
    assert result.returncode == 4 and "the input is empty" in result.stderr


# `signal` and `os` are loaded before; from then on this is Windows, and has neither of its modules.
AS_ON_WINDOWS = """
import runpy, signal, sys
sys.platform = "win32"
sys.modules["fcntl"] = sys.modules["resource"] = None
sys.argv = ["program", "--help"]
runpy.run_module(%r, run_name="__main__")
"""


@pytest.mark.parametrize("module", ["augment_cli", "train", "eval"])
def test_one_line_and_the_exit_code_of_what_a_machine_lacks(module):
    ended = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS % module],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (MissingError.exit_code, "")
    assert ended.stderr.splitlines() == [NO_WINDOWS]


NO_MEMORY = [
    MemoryError(),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    RuntimeError("std::bad_alloc"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("can't start new thread"),
    ImportError("libtorch.so: failed to map segment from shared object"),
]


def from_one(cause):
    error = RuntimeError("a worker failed")
    error.__cause__ = cause
    return error


OTHERS = [ValueError("out of memory"), RuntimeError("no room"), OSError(errno.EIO, "")]


@pytest.mark.parametrize("error", [*NO_MEMORY, *map(from_one, NO_MEMORY), *OTHERS], ids=repr)
def test_memory_that_ran_out_is_known_by_its_words(error):
    assert means_no_memory(error) == (error not in OTHERS)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInputError("in.txt: \x1b[31m"), 4, "name: in.txt: \u241b[31m\n"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (MemoryError(), 6, "name: buy some (MemoryError)\n"),
        (OSError(errno.ENOSPC, "x"), 6, "name: the page: no room left"),
        (FileExistsError(errno.EEXIST, "x", "there"), 4, "name: there: a file or folder is in the way"),
    ],
)
def test_a_line_and_an_exit_code(error, code, said, capsys):
    command = Command("name", "stopped", "buy some", "the page", "all is kept")
    assert command.exit_code(error) == code
    shown = capsys.readouterr().err
    assert shown.startswith(said) and shown.count("\n") == 1


@pytest.mark.parametrize("error", [ValueError("x"), OSError("of a library"), AssertionError()])
def test_a_fault_of_our_own_is_left_to_the_command(error, capsys):
    assert Command().exit_code(error) is None
    assert capsys.readouterr().err == ""


def fails_with(error):
    def fail(*arguments, **options):
        raise error

    return fail


MAINS = {
    "eval": ("eval.subcommands.load_registry", evaluate.main, ["tasks"]),
    "train": ("train.cli._run", train.main, ["simcse"]),
    "reproduce": ("benchmarks.reproduce.command._run", reproduce.main, ["plan"]),
    "data": ("data.fetch.fetch", fetch.main, ["--data", "nowhere"]),
}


@pytest.mark.parametrize("name", MAINS)
@pytest.mark.parametrize(
    ("error", "code"),
    [(MemoryError(), 6), (PermissionError(errno.EACCES, "x", "/there"), 6), (KeyboardInterrupt(), 130)],
    ids=repr,
)
def test_every_main_ends_alike(name, error, code, monkeypatch, capsys):
    place, main, arguments = MAINS[name]
    monkeypatch.setattr(place, fails_with(error))
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == code
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and "Traceback" not in shown


@pytest.mark.parametrize("name", MAINS)
def test_a_bug_keeps_its_traceback(name, monkeypatch):
    place, main, arguments = MAINS[name]
    monkeypatch.setattr(place, fails_with(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError):
        main(arguments)
