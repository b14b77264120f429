"""Signs of a stage as a whole: what it puts in, how its texts begin, and what they lose."""

import numpy as np
import pytest

from augment_cli.reports.stage_signs import clauses_lost, made_of_titles, signs_of_stage


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
