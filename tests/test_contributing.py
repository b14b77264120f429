"""The diffs of CONTRIBUTING.md apply one after the other, and the generic tests pass with them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import REPOSITORY

TREES = ("augment_cli", "train", "eval", "data", "benchmarks", "docs", "tests")
DIFFS = re.findall(r"^```diff\n(.*?)^```", (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8"), re.S | re.M)
# What the document says to run, and what else knows no name.
CHECKS = [
    ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *arguments]
    for arguments in (
        ["tests/augment_cli/augmentations/test_every_augmentation.py", "-k", "loud"],
        ["tests/augment_cli/languages"],
        ["tests/train/losses", "tests/train/test_components.py", "tests/train/test_loading.py"],
        ["tests/train/additions/test_additions.py", "-k", "every_addition"],
        ["tests/eval/protocols/test_every_protocol.py", "tests/eval/tasks"],
    )
] + [
    # Each augmentation's example is run in the slow suite.
    ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/augment_cli/cli/test_help.py", "-k", "loud"],
    ["-m", "ruff", "check", "."],
    ["-m", "ruff", "format", "--check", "."],
]


def apply(diff: str, folder: Path) -> None:
    (folder / "step.diff").write_text(diff, "utf-8")
    # Git must not look for a repository above: it would apply nothing there, and say nothing.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    command = ["git", "apply", "-p1", "step.diff"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{diff}"
    (folder / "step.diff").unlink()


def test_every_diff_applies(tmp_path):
    assert len(DIFFS) >= 7
    for path in re.findall(r"^--- a/(\S+)", "\n".join(DIFFS), re.MULTILINE):
        if (REPOSITORY / path).is_file():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / path, tmp_path / path)
    for diff in DIFFS:
        apply(diff, tmp_path)
        for path in re.findall(r"^\+\+\+ b/(\S+)", diff, re.MULTILINE):
            assert (tmp_path / path).is_file()


@pytest.mark.slow
def test_the_generic_tests_pass_with_them(tmp_path):
    for tree in TREES:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(REPOSITORY / tree, tmp_path / tree, ignore=ignored)
    for file in REPOSITORY.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    for diff in DIFFS:
        apply(diff, tmp_path)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for check in CHECKS:
        done = subprocess.run(
            [sys.executable, *check], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(check)}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
