"""ARCHITECTURE.md, *What runs*: each default is run under a tracer, and what is named there has run."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import augment_cli
from tests.helpers.places import REPOSITORY

MAP = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
SECTION = MAP.partition("## What runs\n")[2].partition("\n## ")[0]
NAMED = dict(re.findall(r"^\| `(\w+)` \| (.*)$", SECTION, re.M))
ROWS = {name: re.findall(r"`([\w/]+\.py)::(\w+)`", row) for name, row in NAMED.items()}
TEXTS = [
    "The river flows through the old town.",
    "A heron waits by the bridge.",
    "The keeper opened the heavy door in 1999.",
    "Rain fell on the market all day.",
    "The children counted seven boats.",
    "An old map hung beside the window.",
] * 2
SETTINGS = ("steps=1", "workers=0", "precision=fp32", "evaluate_every=0", "batch=4")
FEW = [word for setting in SETTINGS for word in ("--set", setting)]


def train(recipe, encoder, store, *changes):
    from train.cli import main

    places = [
        "--store",
        store,
        "--encoder",
        REPOSITORY / "data/models" / encoder,
        "--out",
        f"{store}-{len(changes)}",
    ]
    before, sys.argv = sys.argv, ["train", recipe, *map(str, places), *FEW, *changes]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
    finally:
        sys.argv = before


RUNS: dict[str, Callable[..., Any]] = {
    "una": lambda store: augment_cli.run("una", store, jobs=1),
    "dn": lambda store: augment_cli.run("dn", store, jobs=1),
    "pi": lambda store: augment_cli.run("pi", store, jobs=1),
    "paraphrase": lambda store, writer: augment_cli.run("paraphrase", store, model=writer, rows=2, jobs=1),
    "pack": lambda store: augment_cli.pack_table(store, positives=["corpus"], jobs=1),
    "train": lambda store: train("simcse", "encoder", store),
    # Of so few texts nothing is taught; then the teacher is named, and it is.
    "adapt": lambda store: [
        train("adapt", "static", store),
        train("adapt", "static", store, "--set", "teacher.vectors=start"),
    ],
}


def traced(run):
    """The functions of this repository that a call runs, as (file, name)."""
    found = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(REPOSITORY)):
            file = Path(frame.f_code.co_filename).relative_to(REPOSITORY)
            found.add((str(file), frame.f_code.co_name))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return found


def test_every_run_is_on_the_map():
    assert ROWS.keys() == RUNS.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "adapt" else name for name in RUNS]
)
def test_what_the_map_names_has_run(name, tmp_path, model):
    store = tmp_path / "store"
    augment_cli.ingest_corpus(store=store, texts=TEXTS)
    if name == "pack":
        augment_cli.run("una", store, jobs=1)
    # Paraphrases are written by a small model, as none ships.
    models = [model("pegasus")] if name == "paraphrase" else []
    found = traced(lambda: RUNS[name](store, *models))
    missing = [f"{file}::{function}" for file, function in ROWS[name] if (file, function) not in found]
    assert not missing, f"{name} does not run {missing}"
