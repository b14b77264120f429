"""The worked examples in examples/: each stands in its place in a copy of the tree, and is tested there."""

import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.runs.tables import as_table
from augment_cli.text.spans import CodePoints
from tests.helpers.places import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
PLACES = {
    "augmentation/loud.py": "augment_cli/augmentations/eda/loud.py",
    "augmentation/loud.toml": "tests/augment_cli/augmentations/golden/loud.toml",
    "language/french.py": "augment_cli/french/grammar.py",
    "language/test_french.py": "tests/augment_cli/languages/test_french.py",
    "loss/decoupled.py": "train/losses/decoupled.py",
    "loss/test_decoupled.py": "tests/train/losses/test_decoupled.py",
    "addition/centring.py": "train/additions/centring.py",
    "addition/centring.toml": "train/recipes/centring.toml",
    "protocol/nearest.py": "eval/protocols/nearest.py",
}
TREES = ("augment_cli", "train", "eval", "data", "benchmarks", "docs", "examples", "tests")
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
CHECKS = [
    [*PYTEST, "-m", "not slow", *arguments]
    for arguments in (
        ["tests/augment_cli/augmentations/test_every_augmentation.py", "-k", "loud"],
        ["tests/augment_cli/languages/test_french.py"],
        ["tests/train/losses", "tests/train/test_components.py", "tests/train/test_loading.py"],
        ["tests/train/additions/test_additions.py", "-k", "every_addition"],
        ["tests/eval/protocols/test_every_protocol.py", "tests/eval/tasks"],
    )
] + [[*PYTEST, "tests/augment_cli/cli/test_help.py", "-k", "loud"]]


@pytest.fixture
def loaded(monkeypatch):
    def load(name):
        monkeypatch.syspath_prepend(EXAMPLES / Path(name).parent)
        return importlib.import_module(Path(name).stem)

    return load


def test_the_augmentation_does_what_its_golden_file_says(loaded):
    loud = loaded("augmentation/loud.py").LOUD
    for case in tomllib.loads((EXAMPLES / "augmentation/loud.toml").read_text("utf-8"))["case"]:
        texts = pa.array([case["text"]])
        prepared = loud.prepare(loud.parameters(**case.get("parameters", {})), Resources(42, 0))
        rows = Rows(np.zeros(1, np.int64), texts, CodePoints.of(texts))
        made = as_table(loud, rows, prepared(rows))
        assert made["text"].to_pylist() == [case.get("expected")]
        assert made["reason"].to_pylist() == [case.get("reason")]


@pytest.mark.parametrize("name", ["tokenizer/by_space.py", "package/shouting.py", "protocol/nearest.py"])
def test_the_others_can_be_loaded(name, loaded):
    module = loaded(name)
    assert {"by_space", "SHOUT", "PROTOCOL"} & set(vars(module))


def test_every_example_has_a_place_or_stands_by_itself():
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    by_itself = {name for name in files if name.startswith(("package/", "tokenizer/"))}
    assert files - by_itself - {"README.md", "protocol/tasks.toml"} == set(PLACES)


@pytest.mark.slow
def test_the_generic_tests_pass_with_them(tmp_path):
    for tree in TREES:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(REPOSITORY / tree, tmp_path / tree, ignore=ignored)
    for file in REPOSITORY.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    for name, place in PLACES.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / name, tmp_path / place)
    (tmp_path / "augment_cli/french/__init__.py").write_text('"""French: its rules."""\n', "utf-8")
    tasks = tmp_path / "eval/tasks/tasks.toml"
    tasks.write_text(tasks.read_text("utf-8") + "\n" + (EXAMPLES / "protocol/tasks.toml").read_text("utf-8"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for check in CHECKS:
        done = subprocess.run(
            [sys.executable, *check], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(check)}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
