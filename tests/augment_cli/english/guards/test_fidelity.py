"""What a model's output must bring back and must not invent, beside the pairs of `golden/guards.tsv`."""

import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from augment_cli.english.guards.fidelity import unfaithful, words_of
from augment_cli.syntax.tree import words


def test_a_participle_is_not_replaced_by_a_past_tense():
    original = "The choir, started by Olaf, sings."
    assert unfaithful(original, "The choir, began by Olaf, sings.") == "word_added"
    assert unfaithful("He started the choir.", "He began the choir.") is None
    original = "Remove the wrongly started choir."
    assert unfaithful(original, "Remove the wrongly began choir.") == "word_added"


def test_a_model_of_english_alone_writes_no_words_that_nobody_knows():
    original, output = "Aggregates in Linq foreach", "Aggregates in Linq foreached"
    assert unfaithful(original, output, is_english=True) == "invented_word"
    assert unfaithful("Local table in Oracle 10", "Local table in Oracle ten") == "name_or_number_changed"
    assert unfaithful("In 10 days they began to run.", "In ten days they started to run.") is None


WORDS = words(
    "the old boat left harbour Oslo Marta 1962 not never (quiet) \"money\" they can't isn't of and by was"
)
SENTENCES = st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=10).map(" ".join)


@given(SENTENCES)
def test_a_sentence_is_faithful_to_itself(text):
    assert unfaithful(text, text) is None


@settings(max_examples=25)
@given(SENTENCES, SENTENCES)
def test_numbers_and_names_of_whatever_passes_are_the_originals(original, output):
    if unfaithful(original, output) is None:
        for pattern in (r"\d+", r"\b(?:Oslo|Marta)\b"):
            assert Counter(re.findall(pattern, original)) == Counter(re.findall(pattern, output))
        for mark in '()"':
            assert original.count(mark) == output.count(mark)


@settings(max_examples=25)
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_raises(original, output):
    unfaithful(original, output)


def test_contractions_numbers_and_genitives_are_read_as_words():
    texts = [word.text for word in words_of("Olaf's 3 boats won't sink; they're on the twelfth pier.")]
    assert texts == ["olaf", "3", "boats", "will", "not", "sink", "they", "are", "on", "the", "12th", "pier"]


@settings(max_examples=25)
@given(SENTENCES, SENTENCES)
def test_any_two_texts_are_compared(original, output):
    unfaithful(original, output)
