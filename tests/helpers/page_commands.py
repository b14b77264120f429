"""What the pages say to type: found, read by the programs themselves, made smaller, and run."""

import argparse
import configparser
import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperCommand

from tests.helpers import pages
from tests.helpers.commands import command_named
from tests.helpers.places import REPOSITORY

PAGES = ["README.md", *(str(page.relative_to(REPOSITORY)) for page in pages.PAGES)]
_PROGRAMS = ("augment-cli", "python -m", "torchrun", "make", "pip", "dask", "sbatch")
_MAIN = {
    "augment-cli": "augment_cli.cli",
    "train": "train.cli",
    "eval": "eval.command",
    "benchmarks.reproduce": "benchmarks.reproduce.command",
}


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of a page's blocks of code, in their order."""
    text = (REPOSITORY / page).read_text("utf-8")
    pattern = r"^```([^\n`]*)\n(.*?)^```|^\n((?:^    [^\n]*\n)+)"
    return [
        (found[1] or "", found[2] or re.sub(r"^    ", "", found[3], flags=re.M))
        for found in re.finditer(pattern, text, re.DOTALL | re.MULTILINE)
    ]


def commands_of(page: str) -> list[str]:
    """What a page says to type, in blocks first, then in passing: a program, a command, and an argument."""
    programs = "|".join(_PROGRAMS)
    lines = [
        line.partition(" #")[0]
        for language, block in blocks_of(page)
        if not language
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
        if re.match(rf"({programs}) ", line)
    ]
    text = (REPOSITORY / page).read_text("utf-8")
    named = r"(?:augment-cli|make) [\w-]+ [^`]+|python -m (?:benchmarks|\w+ )[^`]*"
    spans = [re.sub(r"\s+", " ", span) for span in re.findall(f"`({named})`", text)]
    spans = [span for span in spans if not re.search(r"\bNAME\b|…|^python -m train \w+$", span)]
    return [part.strip() for line in (*lines, *spans) for part in line.split("; ")]


class ArgumentsReadError(Exception):
    """Arguments were read without a fault, so that nothing need be done with them."""


def read_arguments(line: str, monkeypatch) -> None:
    """Let the program itself read the arguments of a command, without doing anything; wrong ones raise."""
    words = shlex.split(line.partition(" > ")[0])
    if words[0] == "augment-cli":
        command_named(words[1]).make_context(words[1], words[2:]).close()
    elif words[0] == "make":
        for called in lines_of_make(line):
            read_arguments(called.rpartition(" || ")[2], monkeypatch)
    elif words[0] == "pip":
        setup = configparser.ConfigParser()
        setup.read(REPOSITORY / "setup.cfg")
        (extras,) = re.findall(r"\[([\w,]+)\]", words[-1])
        assert set(extras.split(",")) <= set(setup["options.extras_require"]), line
    else:
        module = words.index("-m") + 1
        if words[module] == "pytest":
            assert all(Path(REPOSITORY / word).exists() for word in words if word.startswith("tests/")), line
            return
        parse = argparse.ArgumentParser.parse_args

        def stop(parser, *given, **named):
            if parser is not None:
                parse(parser, *given, **named)
            raise ArgumentsReadError

        with monkeypatch.context() as patch, pytest.raises(ArgumentsReadError):
            patch.setattr(argparse.ArgumentParser, "parse_args", stop)
            patch.setattr(TyperCommand, "invoke", lambda *given: stop(None))
            patch.setattr(sys, "argv", words[module:])
            # Another test may have imported it, of which runpy would warn. A package stays: its second import
            # would be another than the one that its modules are parts of.
            is_package = hasattr(sys.modules.get(words[module]), "__path__")
            patch.delitem(sys.modules, words[module] + ".__main__" * is_package, raising=False)
            runpy.run_module(words[module], run_name="__main__")


@cache
def lines_of_make(line: str) -> list[str]:
    """The programs of ours that a target calls once everything is installed, as one would type them."""
    done = subprocess.run(
        ["make", "-n", *shlex.split(line)[1:]],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"]},  # and nothing of a make that runs the tests
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    joined = re.sub(r"\\\n\s*", "", done.stdout)
    program = r"augment-cli |python -m (?:train|eval|benchmarks|data)\b|torchrun "
    ours = rf"^(test -d \S+ \|\| )?\.venv/bin/((?:{program}).*)$"
    return ["".join(found).strip() for found in re.findall(ours, joined, re.MULTILINE)]


def call(line: str, folder: Path) -> None:
    """Run a command in this process, in a folder; it must end well."""
    line, _, redirected = line.partition(" > ")
    words = shlex.split(line)
    is_module = words[:2] == ["python", "-m"]
    name = words[2] if is_module else words[0]
    main = importlib.import_module(_MAIN.get(name, name)).main
    out, err = io.StringIO(), io.StringIO()
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with pytest.MonkeyPatch.context() as patch, streams[0], streams[1]:
        patch.chdir(folder)
        patch.setattr(sys, "argv", words[2:] if is_module else words)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        try:
            main()
        except SystemExit as stop:
            assert not stop.code, f"{line}\n{err.getvalue()}"
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the command's end ignores it
    if redirected:
        (folder / redirected.strip()).write_text(out.getvalue(), "utf-8")
