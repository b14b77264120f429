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


def test_an_interrupt_is_a_line_and_130(capsys):
    with pytest.raises(SystemExit) as stop, handled("interrupted; go on"):
        strike()
    assert stop.value.code == 130 and capsys.readouterr().err == "interrupted; go on\n"
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_one_that_is_swallowed_does_not_end_as_done(capsys):
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        with contextlib.suppress(KeyboardInterrupt):
            strike()
        sys.exit(0)
    assert stop.value.code == 130 and capsys.readouterr().err == "interrupted\n"


def test_one_that_the_command_has_reported_is_not_reported_again(capsys):
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        try:
            strike()
        except KeyboardInterrupt:
            sys.exit(130)
    assert stop.value.code == 130 and capsys.readouterr().err == ""


@pytest.mark.parametrize("code", [0, 2])
def test_without_one_the_code_stays(code, capsys):
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        sys.exit(code)
    assert stop.value.code == code and capsys.readouterr().err == ""


def test_who_ignores_it_goes_on_ignoring_it():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with pytest.raises(SystemExit) as stop, handled("interrupted"):
        strike()
    assert stop.value.code == 0


STRIKING = """
import os, signal, sys
class Strike:
    def find_spec(name, path=None, target=None):
        if name == "augment_cli.errors":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strike)
"""


@pytest.mark.parametrize(
    "start",
    [
        ["-m", "augment_cli"],
        pytest.param(["-m", "train"], marks=pytest.mark.slow),
        pytest.param(["-m", "eval"], marks=pytest.mark.slow),
        ["-c", "from augment_cli.__main__ import main; main()"],
    ],
)
def test_while_the_first_modules_of_ours_are_loaded(tmp_path, start):
    """Before a command looks after it itself; as the installed script starts, too."""
    (tmp_path / "sitecustomize.py").write_text(STRIKING)
    result = subprocess.run(
        [sys.executable, *start, "--help"],
        env=ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
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


@pytest.mark.parametrize("command", ["augment_cli", "train", "eval"])
def test_while_a_module_is_loaded(tmp_path, command):
    """A library that each command imports is replaced by one that interrupts and catches."""
    stand_in = {"augment_cli": "typer", "train": "typer", "eval": "rich"}[command]
    (tmp_path / f"{stand_in}.py").write_text(GREEDY)
    done = subprocess.run(
        [sys.executable, "-m", command, "list"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr.count("nterrupted") == 1 and "Traceback" not in done.stderr


def test_while_the_command_itself_is_loaded(tmp_path):
    """Whoever starts the package's entry point has the handler before `augment_cli.cli` is looked for."""
    program = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'augment_cli.cli':\n"
        "            import os, signal\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from augment_cli.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr, done.stderr
    assert done.stderr == "\nInterrupted. Finished parts are kept; the same command resumes.\n"


# Evaluates a string, as Typer does with annotations, when the interrupt comes.
EVALUATED = """
from augment_cli.process.interrupts import handled
with handled("interrupted"):
    eval("__import__('os').kill(__import__('os').getpid(), 2)")
"""


def test_one_that_leaves_an_evaluated_string_is_130_too(tmp_path):
    """Python would end by the signal, which a script takes for a crash."""
    (tmp_path / "evaluated.py").write_text(EVALUATED)
    done = subprocess.run(
        [sys.executable, "-m", "evaluated"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
