"""The trainer stays lean, and the page that walks through it is right."""

import dataclasses
import re

from tests.helpers.places import REPOSITORY
from train.recipe import Recipe

PAGE = (REPOSITORY / "docs/explanation/trainer-walkthrough.md").read_text("utf-8")
NAMED = re.findall(r"`(train/[\w/]+\.py)::(\w+)`", PAGE)


def lines(paths):
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def test_the_plain_path_is_five_files_and_1200_lines():
    files = {file for file, _ in NAMED}
    assert len(files) == 5
    assert lines(REPOSITORY / file for file in files) <= 1200


def test_the_core_is_small_beside_the_methods():
    files = {path: lines([path]) for path in (REPOSITORY / "train").rglob("*.py")}
    core = {path: n for path, n in files.items() if not {"methods", "extras"} & {*path.parts}}
    assert sum(files.values()) <= 9_400 and sum(core.values()) <= 5_450
    # Rooms called `fast` are there for speed alone: without them everything computes the same.
    assert sum(n for path, n in core.items() if "fast" not in path.parts) <= 5_000
    assert len(dataclasses.fields(Recipe)) <= 45
