"""Windows is refused in one line by every command, before a library that it lacks is loaded."""

import subprocess
import sys

import pytest

from augment_cli.errors import MissingError
from augment_cli.process.at_start import NO_WINDOWS
from tests.helpers.places import REPOSITORY

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
