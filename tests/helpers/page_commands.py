"""What the pages say to type: found, made smaller, and run in a folder with what they name."""

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
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperCommand

from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from eval.tasks import REGISTRY
from tests.helpers import pages
from tests.helpers.commands import command_named, typed
from tests.helpers.places import REPOSITORY

PAGES = ["README.md", *(str(page.relative_to(REPOSITORY)) for page in pages.PAGES)]
_PROGRAMS = ("augment-cli", "python -m", "torchrun", "make", "pip", "dask", "sbatch")


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
    line, _, redirected = line.partition(" > ")
    words = shlex.split(line)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = typed(*(words[2:] if words[:2] == ["python", "-m"] else words))
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    if redirected:
        (folder / redirected.strip()).write_text(done.stdout, "utf-8")


_SETS = ("sts12", "sts13", "sts14", "sts15", "stsb", "stsb-dev", "mr")
_ROWS = 24


def write_texts(folder: Path) -> None:
    """A few sentences of the sample, in all the files that pages name."""
    lines = SAMPLE.read_text("utf-8").splitlines()[:_ROWS]
    text = "\n".join(lines) + "\n"
    for name in ("few.txt", "mine.txt", "sentences.txt", "extract.txt"):
        (folder / name).write_text(text, "utf-8")
    for name in ("articles", "shared"):
        (folder / name).mkdir()
    rows = "\n".join(json.dumps({"body": line}) for line in lines)
    (folder / "articles/a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (folder / "shared/a.gz").write_bytes(gzip.compress("\n".join(lines[:20]).encode()))
    more = SAMPLE.read_text("utf-8").splitlines()[_ROWS : _ROWS + 5]
    (folder / "more.txt").write_text("\n".join(more) + "\n", "utf-8")
    further = "".join(f'"{line}",rivers\n' for line in more if '"' not in line)
    (folder / "more.csv").write_text("title,topic\n" + further, "utf-8")
    plain = [line.replace('"', "") for line in lines]
    titles = "".join(f'"{line} An error.",rivers\n' for line in plain)
    for name in ("titles.csv", "mine.csv"):
        (folder / name).write_text("title,topic\n" + titles, "utf-8")
    (folder / "messages.csv").write_text("message,topic\n" + titles, "utf-8")
    labelled = "".join(f'"{line}",{("rivers", "roads")[n % 2]}\n' for n, line in enumerate(plain))
    (folder / "my.csv").write_text("title,topic\n" + labelled, "utf-8")
    triples = "".join(f'"{line}","Indeed: {line}","No. {line}"\n' for line in plain)
    (folder / "pairs.csv").write_text("anchor,positive,negative\n" + triples, "utf-8")
    (folder / "my-recipe.toml").write_text('[[run]]\naugmentation = "crop"\nrate = 0.2\n')
    topics = "".join(f"all\t{number % 2}\t{line}\n" for number, line in enumerate(lines))
    (folder / "topics.tsv.gz").write_bytes(gzip.compress(f"split\tlabel\ttext\n{topics}".encode()))
    (tasks,) = [text for language, text in blocks_of("docs/tutorials/my-corpus.md") if language == "toml"]
    (folder / "my-tasks.toml").write_text(tasks, "utf-8")
    for name in ("data", "benchmarks"):
        (folder / name).symlink_to(REPOSITORY / name)


def write_sets(folder: Path) -> None:
    """`toy`, a data folder with a few rows of some sets, and `tasks.toml`, which says so."""
    lines = (folder / "few.txt").read_text("utf-8").splitlines()
    entries = tomllib.loads(REGISTRY.read_text("utf-8"))
    registry = []
    for name in _SETS:
        entry = entries[name]
        counts = dict.fromkeys(entry["counts"], len(lines))
        rows = ["\t".join(entry["columns"])]
        for split in counts:
            for number, line in enumerate(lines):
                values = {"split": split, "label": str(number % 2), "score": str(number % 6), "text": line}
                values |= {"sentence1": line, "sentence2": lines[(number * 7 + number % 3) % len(lines)]}
                rows.append("\t".join(values.get(column, "toy") for column in entry["columns"]))
        path = folder / "toy" / entry["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
        kept = {key: entry[key] for key in entry if "sha256" not in key and not key.startswith("subset")}
        registry.append(
            f"[{name}]\n" + "".join(f"{key} = {_toml(kept[key])}\n" for key in kept if key != "counts")
        )
        registry.append(f"counts = {_toml(counts)}\n")
    (folder / "tasks.toml").write_text("\n".join(registry), "utf-8")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def write_models(folder: Path, tiny_encoder: Path, model) -> None:
    """`tiny`, an encoder, and `models` with one of each kind that pages name."""
    import torch
    from safetensors.torch import load_file

    (folder / "tiny").symlink_to(tiny_encoder)
    (folder / "models").mkdir()
    kinds = {"t5": "t5", "pegasus": "pegasus", "en-de": "marian", "de-en": "marian-back", "bert": "bert"}
    for name, kind in kinds.items():
        (folder / "models" / name).symlink_to(model(kind))
    old = folder / "models/old"
    shutil.copytree(model("bert"), old)
    torch.save(load_file(old / "model.safetensors"), old / "pytorch_model.bin")
    (old / "model.safetensors").unlink()


def write_judgements(folder: Path) -> None:
    """`judged.json`, as a report's page saves it, of a row of `una` in `store`."""
    settings = Store.open(folder / "store").stage("una").settings
    judged = {"stage": "una", "fingerprint": settings["fingerprint"][:12], "row_id": 0, "verdict": "good"}
    judged |= {"augmentation": "una", "version": settings["version"]}
    (folder / "judged.json").write_text(json.dumps({"corpus": "", "judgements": [judged]}), "utf-8")
