"""Commands and Python of the README and of the pages that guide, one after the other, on a few sentences."""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from augment_cli.session import SAMPLE
from tests.helpers.places import REPOSITORY

PAGES = [
    "README.md",
    "docs/start.md",
    "docs/concepts.md",
    *sorted(str(page.relative_to(REPOSITORY)) for page in (REPOSITORY / "docs").glob("how-*.md")),
    "docs/augmenting.md",
    "docs/input-output.md",
    "docs/report.md",
]
_LONGEST = 600  # seconds of one command, on a machine with other work


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of a page's blocks of code, in their order."""
    text = (REPOSITORY / page).read_text("utf-8")
    fenced = re.findall(r"^```([^\n`]*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    indented = [
        ("", re.sub(r"^    ", "", block, flags=re.M)) for block in re.findall(r"(?:^    .*\n)+", text, re.M)
    ]
    return fenced or indented


def commands_of(page: str) -> list[str]:
    """What a page says to type, and the recipes that it names in passing."""
    text = (REPOSITORY / page).read_text("utf-8")
    typed = [
        line
        for language, block in blocks_of(page)
        for line in block.splitlines()
        if not language and re.match(r"augment-cli |python -m (train|eval) ", line)
    ]
    recipes = re.findall(r"`(augment-cli run [^`]*)`", text)
    return typed + [re.sub(r"\s+", " ", command) for command in recipes]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the input that pages name, and a store as `make augment` leaves it."""
    folder = tmp_path_factory.mktemp("pages")
    lines = SAMPLE.read_text("utf-8").splitlines()[:24]
    for name in ("few.txt", "mine.txt"):
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
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
    words = shlex.split(line, comments=True)
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
        (folder / redirected.split("#")[0].strip()).write_text(done.stdout, "utf-8")


def test_the_pages_have_commands():
    assert all(commands_of(page) for page in PAGES if page not in {"docs/how-augmentation.md"})
    assert sum(len(commands_of(page)) for page in PAGES) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_work_one_after_the_other(page, prepared, tmp_path, command):
    shutil.copytree(prepared, tmp_path, symlinks=True, dirs_exist_ok=True)
    data = os.environ.get("DATA") or str(REPOSITORY.parent / "shared" / "data")
    for line in commands_of(page):
        if "eval" in line.split()[:3]:  # which needs the public sets, and what was scored on them
            if Path(data).is_dir():
                run(tmp_path, line.replace("DIR", data))
            continue
        if not line.startswith("augment-cli "):
            run(tmp_path, line)
            continue
        arguments = shlex.split(line, comments=True)[1:]
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
