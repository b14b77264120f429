"""Signs of a broken text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.reports.choosing import is_noise, kind_of, signs_of


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
