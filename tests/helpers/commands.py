"""Run the command: in this process where that is enough, in one of its own where it is not."""

import contextlib
import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from augment_cli import cli
from augment_cli.cli import main

LINES = [f"the river number {n} flows by house {n * n}" for n in range(60)]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("COV")}


@dataclass
class Result:
    """What a command left: its exit code and its two streams."""

    returncode: int
    stdout: str
    stderr: str


def command_named(name: str) -> Any:
    """The click command behind `augment-cli NAME`, with its parameters."""
    group: Any = typer.main.get_command(cli.load_commands())
    _, command, _ = group.resolve_command(group.make_context("augment-cli", ["list"]), [name])
    assert command is not None, f"there is no command {name}"
    return command


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`command("una", "--json", cwd=…)` as typed in an empty folder."""

    def run(*arguments: object, cwd: Path = tmp_path, stdin: str = "") -> Result:
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["augment-cli", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = int(stop.code or 0)
            finally:
                signal.signal(signal.SIGINT, signal.default_int_handler)  # the command's end ignores it
        return Result(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def small(tmp_path):
    """The folder of `command` with `in.txt`, sixty sentences."""
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path


@pytest.fixture
def process():
    """The same in a process of its own."""

    def run(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "augment_cli", *map(str, arguments)],
            cwd=cwd,
            env=ENVIRONMENT | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory):
    """A folder with `./store`: the sample with UNA, made by the command."""
    folder = tmp_path_factory.mktemp("sample")
    subprocess.run(
        [sys.executable, "-m", "augment_cli", "una", "--beta", "0.5", "--radius", "1%"],
        cwd=folder,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )
    return folder
