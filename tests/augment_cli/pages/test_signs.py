"""Signs of a broken text, and the pictures' numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.pages.drawing import histogram, overlap_of, stacked_bar
from augment_cli.pages.signs import kind_of, signs_of


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


values = st.lists(st.floats(-2, 2), min_size=1, max_size=50).map(np.array)


@given(values, values)
def test_an_overlap_is_symmetric_and_whole_with_itself(first, second):
    share = overlap_of(first, second, 0.0, 1.0, 20)
    assert 0.0 <= share <= 1.0 and share == pytest.approx(overlap_of(second, first, 0.0, 1.0, 20))
    assert overlap_of(first, first, 0.0, 1.0, 20) == pytest.approx(1.0)


def test_a_picture_says_what_it_shows_and_escapes_it():
    picture = histogram(
        [("a", np.array([0.1])), ("b", np.array([0.1, 0.9]))], 0.0, 1.0, 10, 'a "<b>"'
    )
    assert 'aria-label="a &#34;&lt;b&gt;&#34;"' in picture and picture.count('class="overlap"') == 1
    assert "<title>a&lt;b: 50.0 %</title>" in stacked_bar([("a<b", 0.5)], "says")
