"""Run the command: in this process where that is enough, in one of its own where it is not."""

import contextlib
import importlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from augment_cli import cli

LINES = [f"the river number {n} flows by house {n * n}" for n in range(60)]
MAINS = {"augment-cli": "augment_cli.cli", "train": "train.cli", "eval": "eval.command"}
MAINS |= {"benchmarks.reproduce": "benchmarks.reproduce.command"}
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("COV")}


@dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str


def command_named(name: str) -> Any:
    """The click command behind `augment-cli NAME`, with its parameters."""
    group: Any = typer.main.get_command(cli.load_commands())
    _, command, _ = group.resolve_command(group.make_context("augment-cli", ["list"]), [name])
    assert command is not None, f"there is no command {name}"
    return command


def typed(program: str, *words: object, stdin: str = "") -> Result:
    """A program of ours in this process, as typed."""
    main = importlib.import_module(MAINS.get(program, program)).main
    out, err, code = io.StringIO(), io.StringIO(), 0
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with pytest.MonkeyPatch.context() as patch, streams[0], streams[1]:
        patch.setattr(sys, "argv", [program, *map(str, words)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the command's end ignores it
    return Result(code, out.getvalue(), err.getvalue())


def in_a_process(
    *words: object,
    cwd: Path,
    module: str = "augment_cli",
    before: Callable[[], object] | None = None,
    **environment: str,
) -> subprocess.CompletedProcess:
    """`augment-cli` in a process of its own, in which `before` is called first; or another program."""
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=cwd,
        env=ENVIRONMENT | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,  # on a machine with other work
        preexec_fn=before,
        check=False,
    )


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`command("una", "--json", cwd=…)` as typed in an empty folder."""

    def run(*arguments: object, cwd: Path = tmp_path, stdin: str = "") -> Result:
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("COLUMNS", "200")
        return typed("augment-cli", *arguments, stdin=stdin)

    return run


@pytest.fixture
def small(tmp_path):
    """The folder of `command` with `in.txt`, sixty sentences."""
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path


@pytest.fixture
def process():
    """The same in a process of its own."""
    return in_a_process
