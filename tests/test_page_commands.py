"""Commands and Python of the pages: those of guides are run, of all others the arguments are read."""

import argparse
import configparser
import gzip
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from augment_cli.session import SAMPLE
from tests.helpers.commands import command_named
from tests.helpers.places import REPOSITORY

PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (REPOSITORY / "docs").glob("*.md"))]
# Whose commands are run, one after the other.
GUIDES = [
    "README.md",
    "docs/start.md",
    "docs/concepts.md",
    *(page for page in PAGES if page.startswith("docs/how-")),
    "docs/augmenting.md",
    "docs/input-output.md",
    "docs/rephrase.md",
    "docs/report.md",
    "docs/rules.md",
]
# What cannot be run in a guide, and why; the program reads its arguments all the same.
ELSEWHERE = {
    r"^make ": "installs, or works for minutes and more",
    r"^python -m pytest ": "needs what the page adds: test_contributing.py",
}
_LONGEST = 600  # seconds of one command, on a machine with other work
_PROGRAMS = ("augment-cli", "python -m", "torchrun", "make", "pip", "dask")


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of a page's blocks of code, in their order."""
    text = (REPOSITORY / page).read_text("utf-8")
    pattern = r"^```([^\n`]*)\n(.*?)^```|^\n((?:^    [^\n]*\n)+)"
    return [
        (found[1] or "", found[2] or re.sub(r"^    ", "", found[3], flags=re.M))
        for found in re.finditer(pattern, text, re.DOTALL | re.MULTILINE)
    ]


def commands_of(page: str) -> list[str]:
    """What a page says to type, and the recipes that it names in passing."""
    lines = [
        line.partition(" #")[0]
        for language, block in blocks_of(page)
        if not language
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
        if re.match(rf"({'|'.join(_PROGRAMS)}) ", line)
    ]
    text = (REPOSITORY / page).read_text("utf-8")
    recipes = [re.sub(r"\s+", " ", found) for found in re.findall(r"`(augment-cli run [^`]*)`", text)]
    return [part.strip() for line in (*lines, *recipes) for part in line.split("; ")]


def is_elsewhere(line: str) -> bool:
    """Whether a command cannot be run here."""
    return any(re.search(pattern, line) for pattern in ELSEWHERE)


def only_read() -> list[str]:
    """The commands of all pages that no guide runs."""
    lines = {line for page in PAGES for line in commands_of(page) if page not in GUIDES or is_elsewhere(line)}
    return sorted(lines)


def all_commands() -> list[str]:
    """Those of all pages."""
    return [line for page in PAGES for line in commands_of(page)]


class ArgumentsReadError(Exception):
    """Arguments were read without a fault, so that nothing need be done with them."""


def read_arguments(line: str, monkeypatch) -> None:
    """Let the program itself read the arguments of a command, without doing anything.

    Raises
    ------
    click.UsageError, SystemExit, AssertionError
        If an argument is wrong.
    """
    words = shlex.split(line.partition(" > ")[0])
    if words[0] == "augment-cli":
        command_named(words[1]).make_context(words[1], words[2:]).close()
    elif words[0] == "make":
        done = subprocess.run(["make", "-n", *words[1:]], cwd=REPOSITORY, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    elif words[0] == "pip":
        setup = configparser.ConfigParser()
        setup.read(REPOSITORY / "setup.cfg")
        (extra,) = re.findall(r"\[(\w+)\]", words[-1])
        assert extra in setup["options.extras_require"], line
    elif words[0] == "dask":
        cli = pytest.importorskip(f"distributed.cli.dask_{words[1]}")
        cli.main.make_context(words[1], words[2:]).close()
    else:
        module = words.index("-m") + 1
        if words[module] == "pytest":
            assert all(Path(REPOSITORY / word).exists() for word in words if word.startswith("tests/")), line
            return
        parse = argparse.ArgumentParser.parse_args

        def stop(parser, *given, **named):
            parse(parser, *given, **named)
            raise ArgumentsReadError

        monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
        monkeypatch.setattr(sys, "argv", words[module:])
        with pytest.raises(ArgumentsReadError):
            # Another test may have imported it, of which runpy would warn.
            monkeypatch.delitem(sys.modules, words[module], raising=False)
            runpy.run_module(words[module], run_name="__main__")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the input that pages name, and a store as `make augment` leaves it."""
    folder = tmp_path_factory.mktemp("pages")
    lines = SAMPLE.read_text("utf-8").splitlines()[:24]
    text = "\n".join(lines) + "\n"
    for name in ("few.txt", "mine.txt", "sentences.txt"):
        (folder / name).write_text(text, "utf-8")
    (folder / "articles").mkdir()
    rows = "\n".join(json.dumps({"body": line}) for line in lines)
    (folder / "articles/a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    titles = "".join(f'"{line.replace(chr(34), "")} An error.",rivers\n' for line in lines)
    (folder / "titles.csv").write_text("title,topic\n" + titles, "utf-8")
    (folder / "my-recipe.toml").write_text('[[run]]\naugmentation = "crop"\nrate = 0.2\n')
    (folder / "data").symlink_to(REPOSITORY / "data")
    run(folder, "augment-cli run default --corpus few.txt --report report.html")
    return folder


def run(folder: Path, line: str) -> None:
    """One command in a process of its own, which must end well."""
    line, _, redirected = line.partition(" > ")
    words = shlex.split(line)
    modules = ["-m", "augment_cli", *words[1:]] if words[0] == "augment-cli" else words[1:]
    environment = os.environ | {
        "PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *modules],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_LONGEST,
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    if redirected:
        (folder / redirected).write_text(done.stdout, "utf-8")


def test_what_is_run_otherwise_is_still_on_the_pages():
    lines = all_commands()
    for pattern in ELSEWHERE:
        assert any(re.search(pattern, line) for line in lines), pattern


def test_the_pages_have_commands():
    assert len(all_commands()) >= 130


@pytest.mark.slow
@pytest.mark.parametrize("line", only_read())
def test_arguments_of_what_is_not_run_are_read(line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    read_arguments(line, monkeypatch)


@pytest.mark.parametrize(
    "line",
    ["augment-cli una --beat 0.5", "augment-cli una --seed much", "make agument", "pip install 'a[b]'"],
)
def test_arguments_that_are_wrong_are_noticed(line, monkeypatch):
    with pytest.raises((Exception, SystemExit), match=r"beat|valid integer|agument|pip"):
        read_arguments(line, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_the_commands_work_one_after_the_other(page, prepared, tmp_path, command):
    shutil.copytree(prepared, tmp_path, symlinks=True, dirs_exist_ok=True)
    data = os.environ.get("DATA") or str(REPOSITORY.parent / "shared" / "data")
    for line in (line for line in commands_of(page) if not is_elsewhere(line)):
        if line.startswith("python -m eval"):  # needs the public sets, and what was scored on them
            if Path(data).is_dir():
                run(tmp_path, line.replace("DIR", data))
            continue
        if " > " in line or not line.startswith("augment-cli "):
            run(tmp_path, line)
            continue
        arguments = shlex.split(line)[1:]
        store = arguments[arguments.index("--store") + 1] if "--store" in arguments else "store"
        if not (tmp_path / store).exists() and "--corpus" not in arguments:
            if arguments[0] in {"report", "status"}:
                continue  # of a store that a page names for example
            arguments += ["--corpus", "few.txt"]  # which would be the whole sample
        done = command(*arguments)
        assert done.returncode == 0, f"{line}\n{done.stderr}"

    python = [block for language, block in blocks_of(page) if language == "python"]
    for block in python:
        if "sentence_transformers" in block:  # which warns of things that are its own
            (tmp_path / "block.py").write_text(block, "utf-8")
            run(tmp_path, "python block.py")
    plain = "".join(block for block in python if "sentence_transformers" not in block)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        exec(compile(plain, page, "exec"), {})
