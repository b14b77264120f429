"""Ctrl-C at any moment of a command: 130 and a line, whoever catches the exception on its way."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from augment_cli.process.interrupts import handled
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.places import REPOSITORY


@pytest.fixture(autouse=True)
def handlers():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def strike():
    os.kill(os.getpid(), signal.SIGINT)


def reported():
    try:
        strike()
    except KeyboardInterrupt:
        sys.exit(130)


def swallowed():
    with contextlib.suppress(KeyboardInterrupt):
        strike()
    sys.exit(0)


@pytest.mark.parametrize(
    ("act", "code", "said"),
    [
        (strike, 130, "interrupted\n"),
        (swallowed, 130, "interrupted\n"),  # does not end as done
        (reported, 130, ""),  # is not reported again
        (lambda: sys.exit(0), 0, ""),
        (lambda: sys.exit(2), 2, ""),
    ],
    ids=["it comes", "swallowed", "reported", "none", "none, and an error"],
)
def test_an_interrupt_is_a_line_and_130_and_without_one_the_code_stays(capsys, act, code, said):
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        act()
    assert stop.value.code == code and capsys.readouterr().err == said
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_who_ignores_it_goes_on_ignoring_it():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        strike()
    assert stop.value.code == 0


def python(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=ENVIRONMENT | {"PYTHONPATH": f"{folder}{os.pathsep}{REPOSITORY}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


# Strikes when a module is looked for.
STRIKING = """
import os, signal, sys
class Strike:
    def find_spec(name, path=None, target=None):
        if name == %r:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strike)
"""
MAIN = "from augment_cli.__main__ import main; main()"


@pytest.mark.parametrize(
    "start",
    [
        ["-m", "augment_cli"],
        pytest.param(["-m", "train"], marks=pytest.mark.slow),
        pytest.param(["-m", "eval"], marks=pytest.mark.slow),
        ["-c", MAIN],
    ],
)
def test_while_the_first_modules_of_ours_are_loaded(tmp_path, start):
    """Before a command looks after it itself; as the installed script starts, too."""
    (tmp_path / "sitecustomize.py").write_text(STRIKING % "augment_cli.errors")
    result = python(tmp_path, *start, "--help")
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "\nInterrupted before anything was done.\n"


# A library that catches everything while it is loaded, as some do.
GREEDY = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    import time; time.sleep(5)
except BaseException:
    pass
"""


@pytest.mark.parametrize(
    ("command", "library"), [("augment_cli", "typer"), ("train", "typer"), ("eval", "rich")]
)
def test_while_a_module_is_loaded(tmp_path, command, library):
    """A library that each command imports is replaced by one that interrupts and catches."""
    (tmp_path / f"{library}.py").write_text(GREEDY)
    done = python(tmp_path, "-m", command, "list")
    assert done.returncode == 130, done.stderr
    assert done.stderr.count("nterrupted") == 1 and "Traceback" not in done.stderr


def test_while_the_command_itself_is_loaded(tmp_path):
    """Whoever starts the package's entry point has the handler before `augment_cli.cli` is looked for."""
    done = python(tmp_path, "-c", f"{STRIKING % 'augment_cli.cli'}\n{MAIN}", "--version")
    assert done.returncode == 130, done.stderr
    assert done.stderr == "\nInterrupted. Finished parts are kept; the same command resumes.\n"


# Evaluates a string, as Typer does with annotations, when the interrupt comes.
EVALUATED = """
from augment_cli.process.interrupts import handled
with handled("interrupted"):
    eval("__import__('os').kill(__import__('os').getpid(), 2)")
"""


def test_one_that_leaves_an_evaluated_string_is_130_too(tmp_path):
    """Python would end by the signal, which a script takes for a crash."""
    done = python(tmp_path, "-c", EVALUATED)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
