"""Typical rows: short, clean, changed as much as most; and what a run's last screen makes of them."""

from pathlib import Path

import numpy as np
import pytest

from augment_cli.pages import terminal as views
from augment_cli.reports import choosing
from augment_cli.reports.choosing import Choice, amount_of_change, choose_rows, typical_rows
from augment_cli.store.store import Store


def row(original, text, edits=()):
    return {"row_id": 0, "original": original, "text": text, "edits": list(edits)}


def edit(start, end, replacement):
    return {"start": start, "end": end, "replacement": replacement}


BRIDGE = "The old bridge crosses the wide river."
PLAIN = row(BRIDGE, BRIDGE.replace("old", "new"), [edit(4, 7, "new")])


@pytest.mark.parametrize(
    "worse",
    [
        row("Go on.", "Go off.", [edit(3, 5, "off")]),
        row("the old bridge crosses the river", "the new bridge crosses the river", [edit(4, 7, "new")]),
        row("The 1,780 m bridge (1926) is long.", "The 1,780 m road (1926) is long.", [edit(12, 18, "road")]),
        row(BRIDGE, BRIDGE.replace("old", "the"), [edit(4, 7, "the")]),
        row(BRIDGE, "A cow eats grass in the summer sun.", [edit(0, 37, "A cow eats")]),
    ],
    ids=["short", "no sentence", "numbers and brackets", "a sign", "changed more than most"],
)
def test_a_plain_row_comes_before_what_is_hard_to_read(store, monkeypatch, worse):
    rows = [worse, PLAIN, PLAIN]
    monkeypatch.setattr(choosing, "choose_rows", lambda *asked: rows)
    assert typical_rows(store, "una", 1) == [PLAIN]
    assert typical_rows(store, "una", 9) == rows  # in the corpus' order


def test_random_rows_of_a_few_row_groups(store, monkeypatch):
    """Three groups of rows, the same ones for a seed; where there are no more groups, nothing changes."""
    monkeypatch.setattr(choosing, "ROW_GROUP_ROWS", 2)
    rows = [row["row_id"] for row in choose_rows(store, "una", 99, 0, Choice(most_row_groups=3))]
    begins = choosing._row_groups(store, "una")
    groups = np.unique(np.searchsorted(begins, rows, side="right"))
    assert len(groups) == 3 < len(begins) and len(rows) == 6
    assert rows == [row["row_id"] for row in choose_rows(store, "una", 99, 0, Choice(most_row_groups=3))]
    assert rows != [row["row_id"] for row in choose_rows(store, "una", 99, 1, Choice(most_row_groups=3))]
    assert choose_rows(store, "una", 4, 0, Choice(most_row_groups=99)) == choose_rows(store, "una", 4)


def test_change_counts_what_went_and_what_came():
    assert amount_of_change("abcd", "aXYd", [edit(1, 3, "XY")]) == 1.0
    assert amount_of_change("abcd", "abcdef", []) == 0.5


def test_the_last_screen_has_examples_the_page_and_three_commands_as_relative_paths(
    store, capsys, monkeypatch
):
    monkeypatch.chdir(store.path.parent)
    monkeypatch.setattr(views.shutil, "which", lambda name: None)
    monkeypatch.setattr(views.sys, "executable", str(store.path.parent / ".venv/bin/python"))
    monkeypatch.setenv("COLUMNS", "200")
    views.show_hints(Store.open(Path("store")), ["una", "una.1"], Path("report.html"))
    shown, _, following = capsys.readouterr().out.partition("\nNext:\n")
    assert "From una:" in shown and "From una.1:" in shown and "report.html" in shown
    programs = [line.split()[0] for line in following.splitlines()]
    assert programs == [*2 * [".venv/bin/augment-cli"], ".venv/bin/python"]
    assert "--store" not in following and str(store.path.parent) not in following
    views.show_hints(Store.open(Path("store")), ["una"])
    assert "augment-cli report" in capsys.readouterr().out
