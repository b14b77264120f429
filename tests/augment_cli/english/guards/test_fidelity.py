"""What a model's output must bring back and must not invent; the sentences were written for these tests."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augment_cli.english.guards.fidelity import unfaithful, words_of

ORIGINAL = 'In 1962, Marta Nygaard quickly sold 3 boats (all old) to a museum because she needed "the money".'
FAITHFUL = (
    'In 1962, Marta Nygaard quickly sold three boats (all old) to a museum because she needed "the money".'
)


@pytest.mark.parametrize(
    ("original", "output"),
    [
        (ORIGINAL, FAITHFUL),
        ("She did not like the film.", "She didn't like the movie."),
        ("The bridge was built by two brothers.", "Two brothers built the bridge."),
        ("Although it rained, the children played.", "The children played although it rained."),
        ("He lived in the 19th century.", "He lived in the nineteenth century."),
        ("Wir haben gestern zwei Boote gekauft.", "Gestern haben wir zwei Schiffe gekauft."),  # not English
    ],
)
def test_what_says_the_same_passes(original, output):
    assert unfaithful(original, output) is None


@pytest.mark.parametrize(
    ("original", "output", "reason"),
    [
        ("Malaria spread along the river.", "Choria spread along the river.", "invented_word"),
        ("But they stayed.", "Butn't they stayed.", "invented_word"),
        ("Everything was quiet.", "Eachthing was quiet.", "invented_word"),
        ("They met at a conference.", "They met at a conferencerencer.", "invented_word"),
        ("Marta met Olaf in Oslo.", "Marta met Oslo in Oslo.", "name_or_number_changed"),
        ("Marta met Olaf in Oslo.", "Marta met in Oslo.", "name_or_number_changed"),
        ("It has 41 rooms.", "It has 14 rooms.", "name_or_number_changed"),
        ("Das Boot hat 41 Ruder.", "Das Boot hat 14 Ruder.", "name_or_number_changed"),
        (
            "The Roman Catholic and Greek Orthodox priests met.",
            "The Roman Greek and Catholic Orthodox priests met.",
            "name_or_number_changed",
        ),
        ("It was a ‘quiet’ house.", "It was a quiet’ house.", "unpaired_mark"),
        ("They called it 'the nest'.", "They called it 'the nest.", "unpaired_mark"),
        # rare words, and English all the same
        (
            "The Zwk of the Brxt was in the old Qorm.",
            "The Zwk of the Brxt was in the old.",
            "name_or_number_changed",
        ),
        ("The house (a ruin) burned.", "The house a ruin) burned.", "unpaired_mark"),
        ('He said "no" twice.', 'He said "no twice.', "unpaired_mark"),
        ("It has the @ sign.", "It has the sign.", "unpaired_mark"),
        (
            'They wrote "the film was largely lost" on it.',
            'They wrote "the film was mostly lost" on it.',
            "quotation_changed",
        ),
        ("He said: “I began to run.”", "He said: “I started to run.”", "quotation_changed"),
        ("She was not late.", "She was late.", "negation_changed"),
        ("The cat sat on the mat.", "The cat sat on the table.", "word_added"),
        ("Every knot says a lot.", "A lot, every knot says a lot.", "word_added"),
        ("The goal was missed.", "The objective was missed.", "word_added"),
        ("The old house burned down.", "The house burned down.", "word_lost"),
        (
            "The second is older than the first.",
            "The first is older than the first.",
            "name_or_number_changed",
        ),
        # Titles of rare words, most of which no list has.
        ("Bash reg-exp substitution", "Bash reg-exp substitutionstitution", "invented_word"),
        ("Change the svn repo", "Change the svn repopopo", "invented_word"),
        ("AJAX XMLHttpRequest object limt", "AnJAX XMLHttpRequest object limt", "invented_word"),
        ("Stringstream vstudio manipulators", "Worldwide vstudio manipulators", "name_or_number_changed"),
        ("The fellow is at large.", "The fellow is at big.", "word_lost"),
        (
            "The house burned.",
            "The house that was the house burned in the house of the king and the queen.",
            "absurd_length",
        ),
    ],
)
def test_what_is_lost_added_or_invented_is_a_reason(original, output, reason):
    assert unfaithful(original, output) == reason


@pytest.mark.parametrize(
    ("original", "output"),
    [
        ("The boat left at night.", "The boat left at of night."),
        ("The boat left at night.", "the boat left at night."),
        ("The boat left at night.", "The boat left at night?"),
        ("The boat left at night.", "At night The boat left."),
        ("The boat left at night.", "The boat left at at night."),
        ("A rare gull is a good sign.", "An rare gull is a good sign."),
        ("They have a rare gull.", "They has a rare gull."),
        ("Who do you think it is?", "Who do you think it's?"),
        ("The sign passed between them.", "The sign that is passed between them."),
        ("Olaf caught the rope and bent his knees.", "The rope and bent his knees were caught by Olaf."),
        (
            "It was founded in Oslo and later moved in 1997.",
            "In 1997, it was founded in Oslo and later moved.",
        ),
        ("Milk is drunk or processed into cheese here.", "Milk is processed into cheese or drunk here."),
        ("In 1538 these mines produced gold.", "Gold was produced by in 1538 these mines."),
        ("By May 1941 they were there.", "By 1941 May they were there."),
        ("Don't you like it?", "Do not you like it?"),
        ("They lived first in Oslo and then in Bergen.", "In Bergen, they lived first in Oslo and then."),
        ("He looks like an office boy.", "He looks like office boy."),
        ("What is the best tree here?", "What does the best tree here?"),
        ("How do I make it work?", "How does I make it work?"),
        ("How do I work on two boats?", "How do I works on two boats?"),
        ("Why isn't there a boat?", "Why is not there a boat?"),
        ("What if you are but it sinks?", "What if you're but it sinks?"),
        ("Running an MVC boat", "Running a MVC boat"),
        ("The boat left at night", "The boat left at night."),
    ],
)
def test_slips_of_grammar_are_a_reason(original, output):
    assert unfaithful(original, output) == "broken_grammar"


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


WORDS = [
    "the",
    "old",
    "boat",
    "left",
    "harbour",
    "Oslo",
    "Marta",
    "1962",
    "not",
    "never",
    "(quiet)",
    '"money"',
]
WORDS += ["they", "can't", "isn't", "of", "and", "by", "was"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)


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
