"""Signs of a broken text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.reports.signs import kind_of, signs_of, signs_of_stage


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


def changed(original, old, new):
    start = original.index(old)
    edit = {"start": start, "end": start + len(old), "replacement": new}
    return original, original[:start] + new + original[start + len(old) :], [edit]


def test_a_stage_in_which_nothing_stands_out_has_no_sign():
    rows = [changed(f"Word{n} left.", f"Word{n}", f"Other{n}") for n in range(200)]
    assert signs_of_stage(rows) == {}
    assert signs_of_stage([]) == {}


def test_one_pair_of_words_in_many_edits_is_a_sign():
    rows = [changed(f"Word{n} left.", f"Word{n}", f"Other{n}") for n in range(95)]
    rows += [changed("The books fell.", "books", "dictionaries")] * 5
    assert signs_of_stage(rows) == {"of the edits put “dictionaries” for “books”": 0.05}


def test_one_opening_in_more_than_a_third_is_a_sign():
    rows = [(f"Boat {n} left.", f"It is not true that boat {n} did not leave.", []) for n in range(40)]
    rows += [(f"Boat {n} left.", f"Boat {n} sailed.", []) for n in range(60)]
    assert signs_of_stage(rows) == {"begin with “It is not true”": 0.4}


def test_years_that_the_corpus_does_not_have_are_a_sign():
    rows = [changed(f"It began in {1850 + n}.", f"{1850 + n}", f"{1200 + n}") for n in range(100)]
    assert signs_of_stage(rows) == {"of the years that were put in are unlike those of the corpus": 1.0}
