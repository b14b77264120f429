"""Streams that are closed, full or gone; the line that Windows gets."""

import subprocess
import sys

import pytest

from augment_cli.errors import MissingError
from augment_cli.process.at_start import NO_WINDOWS
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.places import REPOSITORY

COMMANDS = ["augment_cli --help", "augment_cli list", "train --help", "eval --help", "eval tasks --json"]


def some_quickly(*quick):
    """Every command; those that are not named are left to the slow suite."""
    marked = [pytest.param(words, marks=() if words in quick else pytest.mark.slow) for words in COMMANDS]
    return pytest.mark.parametrize("words", marked)


def shell(command, tmp_path):
    """What a shell says of a line in which PYTHON is this interpreter."""
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
