"""Lemma scripts: they give back the lemma they were made from, and carry over to other words."""

from hypothesis import given
from hypothesis import strategies as st

from data.builds.pipeline.lemmas import apply_script, lemma_script


@given(st.text("abcAB'é", min_size=1, max_size=8), st.text("abcAB'é", min_size=1, max_size=8))
def test_script_makes_the_lemma(word: str, lemma: str) -> None:
    assert apply_script(lemma_script(word, lemma), word) == lemma


def test_script_carries_over() -> None:
    assert apply_script(lemma_script("studies", "study"), "ponies") == "pony"
    assert apply_script(lemma_script("Walked", "walk"), "Talked") == "talk"
    assert apply_script(lemma_script("Londons", "London"), "Parises") == "Parise"


def test_script_that_does_not_fit_keeps_the_word() -> None:
    assert apply_script("l|5|be", "is") == "is"
    assert apply_script("l|2|", "is") == "is"
