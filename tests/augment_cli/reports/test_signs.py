"""Signs of a row and of a stage, and rows that are typical."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.pages import terminal as views
from augment_cli.reports import choosing
from augment_cli.reports.choosing import (
    Choice,
    amount_of_change,
    choose_rows,
    is_noise,
    kind_of,
    signs_of,
    typical_rows,
)
from augment_cli.reports.stage_signs import clauses_lost, made_of_titles, signs_of_stage
from augment_cli.store.store import Store


@pytest.mark.parametrize(
    ("original", "text", "sign"),
    [
        ("He did not go.", "He did not not go.", "“not” twice in a row"),
        ("The dog barks.", "The the dog barks.", "“the” twice in a row"),
        ("He left (early).", "He left early).", "a bracket or quotation mark without its partner"),
        ('"Go," he said.', 'Go," he said.', "a bracket or quotation mark without its partner"),
        ("He left.", "He left .", "a space before a punctuation mark"),
        ("He left.", "he left.", "begins with a small letter"),
        ("The dog barks at the moon.", "Dog barks.", "2 words left of 6"),
        ("A naïve boy left.", "A nave boy left.", "“naïve” has lost a letter"),
        ("He left.", "Not that he had not never left.", "three negations more"),
    ],
)
def test_a_sign_is_named(original, text, sign):
    assert sign in signs_of(original, text)
    assert kind_of(sign)


@pytest.mark.parametrize(
    "text", ["He said that that was so.", "She had had enough.", "(He left early.)", "He is 5 5."]
)
def test_what_is_english_or_was_there_before_is_no_sign(text):
    assert signs_of(text, text) == []
    assert signs_of("He left it there.", text) == []


@given(st.text(), st.text())
def test_any_text_has_a_list_of_signs(original, text):
    assert all(kind_of(sign) for sign in signs_of(original, text))
    assert signs_of(original, original) == []


def test_what_is_made_to_be_noisy_is_known():
    assert all(map(is_noise, ("random-swap", "random-sentence", "word-deletion", "crop", "yoda")))
    assert not any(map(is_noise, ("una", "synonym", "dn", "paraphrase")))


def found(rows, corpus=()):
    signs = signs_of_stage(rows, corpus)
    assert all(0 < sign.rows <= 1 and sign.advice.endswith(".") for sign in signs)
    return {sign.words: round(sign.share, 2) for sign in signs}


def changed(original, old, new):
    start = original.index(old)
    edit = {"start": start, "end": start + len(old), "replacement": new}
    return original, original[:start] + new + original[start + len(old) :], [edit]


def test_a_stage_in_which_nothing_stands_out_has_no_sign():
    rows = [changed(f"Word{n} left.", f"Word{n}", f"Other{n}") for n in range(200)]
    assert found(rows) == {}
    assert found([]) == {}


def test_one_pair_of_words_in_many_edits_is_a_sign():
    rows = [changed(f"Word{n} left.", f"Word{n}", f"Other{n}") for n in range(95)]
    rows += [changed("The books fell.", "books", "dictionaries")] * 5
    assert found(rows) == {"of the edits put “dictionaries” for “books”": 0.05}
    # Words of grammar are in every sentence.
    assert found([*rows[:95], *[changed("It was there.", "was", "is")] * 5]) == {}


def test_one_opening_in_more_than_a_third_is_a_sign():
    rows = [(f"Boat {n} left.", f"It is not true that boat {n} did not leave.", []) for n in range(40)]
    rows += [(f"Boat {n} left.", f"Boat {n} sailed.", []) for n in range(60)]
    assert found(rows) == {"begin with “It is not true”": 0.4}


@pytest.mark.parametrize(("low", "share"), [(1200, 1.0), (1850, None), (1930, 0.8)])
def test_years_that_the_corpus_does_not_have_are_a_sign(low, share):
    rows = [changed(f"It began in {1850 + n}.", f"{1850 + n}", f"{low + n % 90}") for n in range(100)]
    expected = {"of the years that were put in are unlike those of the corpus": share} if share else {}
    assert found(rows) == expected


def test_numbers_are_compared_with_those_of_unchanged_rows_too():
    rows = [
        changed(f"Boat {n} has {n % 9 + 1} men.", f" {n % 9 + 1} ", f" {n * 977 + 5000} ") for n in range(60)
    ]
    (words,) = found(rows)
    assert words == "of the numbers that were put in are unlike those of the corpus"
    assert found(rows, [f"It has {n % 60 * 977 + 5000} rooms." for n in range(1000)]) == {}
    # A number that moves is not put in.
    assert found([(f"In {n} it rose.", f"It rose in {n}.", []) for n in range(1850, 1950)]) == {}


def test_characters_that_no_text_keeps_are_a_sign_and_words_that_were_replaced_are_none():
    rows = [(f"Boat {n} left.", f"Boat {n} sailed.", []) for n in range(60)]
    broken = [(f"The naïve man saw {n}.", f"The nave man saw {n}.", []) for n in range(4)]
    assert found(rows + broken) == {"have words without ï, which no text of this stage keeps": 0.06}
    assert found([*rows, *broken, ("A naïve man.", "One naïve man.", [])]) == {}
    assert found(rows + [(f"The naïve man saw {n}.", f"The simple man saw {n}.", []) for n in range(4)]) == {}


def test_fewer_clauses_are_a_sign_where_many_rows_have_fewer():
    before = np.full(100, 2)
    assert clauses_lost(before, before) is None and clauses_lost(before[:20], before[:20] - 1) is None
    assert clauses_lost(before, before - (np.arange(100) < 5)) is None
    sign = clauses_lost(before, before - (np.arange(100) < 30))
    assert sign.words == "have fewer clauses than their originals" and sign.share == 0.3


def test_texts_without_a_mark_at_the_end_are_a_sign_of_stages_that_read_parses():
    titles, ended = ["Getting started with lists"] * 60, ['He said "No."', "Was it? (Yes.)"] * 30
    sign = made_of_titles([*titles, *ended[:40]])
    assert sign.words.startswith("are made from texts without a mark") and sign.share == 0.6
    assert made_of_titles([*titles[:40], *ended]) is None and made_of_titles(titles[:39]) is None


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
