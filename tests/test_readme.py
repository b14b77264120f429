"""The README's commands and Python in their order, in an empty folder, on some sentences of the sample."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from augment_cli.session import SAMPLE
from tests.helpers.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
RECIPES = re.findall(r"`(augment-cli run [^`]*)`", README)


@pytest.mark.slow
def test_the_commands_work_one_after_the_other(tmp_path):
    lines = SAMPLE.read_text("utf-8").splitlines()[:12]
    (tmp_path / "few.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "articles").mkdir()
    rows = "\n".join(json.dumps({"body": line}) for line in lines)
    (tmp_path / "articles/a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    titles = "".join(f'"{line.replace(chr(34), "")} An error.",rivers\n' for line in lines)
    (tmp_path / "titles.csv").write_text("title,topic\n" + titles, "utf-8")
    (tmp_path / "my-recipe.toml").write_text('[[run]]\naugmentation = "crop"\nrate = 0.2\n')

    commands = ["augment-cli run default"]  # what `make augment` runs
    for _, block in BLOCKS:
        commands += [line for line in block.splitlines() if line.startswith("augment-cli ")]
    commands += [re.sub(r"\s+", " ", command) for command in RECIPES]
    assert len(commands) >= 12
    for command in commands:
        arguments = shlex.split(command, comments=True)[1:]
        store = arguments[arguments.index("--store") + 1] if "--store" in arguments else "store"
        if arguments[0] == "run" and not (tmp_path / store).exists():
            arguments += ["--corpus", "few.txt"]  # which would be the whole sample
        done = subprocess.run(
            [sys.executable, "-m", "augment_cli", *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"

    blocks = [block for language, block in BLOCKS if language == "python"]
    for block in blocks:
        if "sentence_transformers" in block:  # which warns of things that are its own
            code = block.replace("data/models/encoder", str(REPOSITORY / "data/models/encoder"))
            own = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(REPOSITORY)}
            program = [sys.executable, "-c", code]
            done = subprocess.run(program, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert (tmp_path / "runs/titles-st/model.safetensors").exists()

    python = "".join(block for block in blocks if "sentence_transformers" not in block)
    namespace: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        exec(compile(python, "README.md", "exec"), namespace)


def test_its_results_are_those_of_the_evidence():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([+-][\d.]+ ± [\d.]+) \| ([+-][\d.]+) \|$", README, re.M)
    assert len(rows) == 5
    evidence = (REPOSITORY / "docs" / "evidence-cpu.md").read_text("utf-8")
    lines = [re.sub(r" \[\d+\]", "", line) for line in evidence.splitlines()]
    for method, baseline, here, paper in rows:
        said = [
            line for line in lines if line.startswith(f"| {method} > {baseline} | {paper} | {here} (3) |")
        ]
        assert len(said) == 1, f"{method}: docs/evidence-cpu.md says otherwise; correct the README"
