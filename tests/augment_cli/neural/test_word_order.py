"""What may not move, turn or change places; the sentences were written for these tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.neural.fidelity import unfaithful
from augment_cli.neural.vocabulary import english
from augment_cli.neural.word_order import is_misplaced

MISPLACED = [
    ("The term means skiing on one ski.", "On one ski, the term means skiing."),
    ("It came eighth, up from 14 in 2013.", "In 2013, it came eighth, up from 14."),
    ("It's all under somebody's thumb.", "Under someone's thumb, it's all."),
    ("The terms began as names of boats.", "As names of boats, the terms began."),
    ("He escaped losing his rank.", "Losing his rank, he escaped."),
    ("They were up in a second, riding after him.", "After him, they were up in a second, riding."),
    ("I paid a price that I should rue if I lost.", "If I lost, I paid a price that I should rue."),
    ("They sailed, when they were caught.", "When they were caught, they sailed."),
    ("In 1900, Olaf asked her to learn Dutch.", "Olaf asked her to learn Dutch in 1900."),
    ("In 1964, they set the age of six.", "They set the age of six in 1964."),
    ("In 1950, Olaf moved and later left it.", "Olaf moved and later left it in 1950."),
    ("While Olaf found none, he found friends.", "He found friends while Olaf found none."),
    ("Roads are the concern of towns.", "The concern of towns are roads."),
    ("Oslo is the largest port, ahead of Bergen.", "The largest port, ahead of Bergen is Oslo."),
    ("Pairs are shared by two atoms.", "Two atoms shared pairs."),
    ("Meals were gotten by the children.", "The children gotten meals."),
    ("She said this with joy.", "This with joy was said by her."),
    ("Most teams play in cups.", "In cups are played by most teams."),
    ("The war ended the rule in China.", "The rule was ended by the war in China."),
    ("Olga kept the cats.", "The cats was kept by Olga."),
    ("They held northern Syria and upper Egypt.", "They held northern upper and Syria Egypt."),
    ("It has ease of use and feature set.", "It has ease of feature and use set."),
    ("He drove his car and me away.", "He drove his me and car away."),
    ("The bow and the general rudeness hurt.", "The general and the bow rudeness hurt."),
    ("Olaf looked up in wonder.", "Wonder, Olaf looked up."),
    ("He left, stooping and avoiding looking back.", "He left, avoiding and stooping looking back."),
    ("They read one book at a time.", "At a time, they read one book."),
    ("In his last duel, he was as kind as ever.", "He was as kind as ever in his last duel."),
    ("He took his cocked hat and stick.", "He took his cocked stick and hat."),
    ("It rains, for it is long before we dine.", "Before we dine, it rains, for it is long."),
    ("It must be built up slowly.", "It must be constructed up slowly."),
]  # fmt: skip


@pytest.mark.parametrize(("original", "output"), MISPLACED)
def test_what_is_misplaced_is_found_and_its_original_is_not(original, output):
    assert is_misplaced(original, output, english())
    assert not is_misplaced(original, original, english())


@pytest.mark.parametrize(
    ("original", "output"),
    [
        ("They met after his death.", "After his death, they met."),
        ("The rule ended in the 1860s.", "In the 1860s, the rule ended."),
        ("It began in May.", "In May, it began."),
        ("In 1900, Olaf sent a letter.", "Olaf sent a letter in 1900."),
        ("The dog barked when Olaf came.", "When Olaf came, the dog barked."),
        ("When Olaf came, the dog barked.", "The dog barked when Olaf came."),
        ("Oslo is the capital of Norway.", "The capital of Norway is Oslo."),
        ("Shots were fired by the soldiers.", "The soldiers fired shots."),
        ("The soldiers fired a shot in 1905.", "A shot was fired by the soldiers in 1905."),
        ("They own the rural and urban houses.", "They own the urban and rural houses."),
        ("Olga and Ivo slept.", "Ivo and Olga slept."),
        ("I'm glad, and I can't sleep.", "I am glad, and I can't sleep."),
    ],
)
def test_what_may_move_passes(original, output):
    assert not is_misplaced(original, output, english())


def test_the_guards_ask_for_it():
    assert unfaithful("Most teams play in cups.", "In cups are played by most teams.") == "broken_grammar"


@pytest.mark.parametrize(
    ("original", "output", "reason"),
    [
        ("They announced it.", "They declared it.", "word_added"),  # mostly means something else
        ("They bought it.", "They purchased it.", None),  # mostly means the same
        ("It seemed old.", "It appeared old.", None),  # on the list
        ("The error was found.", "The mistake was found.", "word_added"),  # known to mislead
        ("They met in Newcastle upon Tyne.", "They met in Newcastle on Tyne.", "name_or_number_changed"),
        ("It was an old seat.", "It an old seat.", "broken_grammar"),
        (
            "The veins formed by oil were deep.",
            "The veins that were formed by oil were deep.",
            "broken_grammar",
        ),
        ("Be such as he seems.", "Be like seems he.", "broken_grammar"),
        ("He wept for very weariness.", "He wept for extremely weariness.", "broken_grammar"),
    ],
)
def test_words_that_may_stand_for_others(original, output, reason):
    assert unfaithful(original, output) == reason


SENTENCES = st.lists(
    st.sampled_from(
        [
            "the",
            "old",
            "boats",
            "left",
            "in",
            "1962",
            "and",
            "by",
            "Olaf",
            ",",
            "when",
            "was",
            "built",
            "up",
            "is",
        ]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(SENTENCES, SENTENCES)
def test_any_two_texts_are_compared_and_none_with_itself_is_misplaced(original, output):
    is_misplaced(original, output, english())
    assert not is_misplaced(original, original, english())
