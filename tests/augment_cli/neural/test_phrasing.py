"""Turns of phrase that a model gets wrong; the sentences were written for these tests."""

import pytest

from augment_cli.neural.fidelity import unfaithful
from augment_cli.neural.phrasing import is_misphrased

SLIPS = [
    ("He went on with it.", "He went on it."),
    ("Olga went to see if the gate stood open.", "If the gate stood open, Olga went to see."),
    ("Olga hesitated a moment.", "A moment was hesitated by her."),
    ("It froze between the tenth and twelfth night.", "It froze between the twelfth and tenth night."),
    ("At dusk he walked home, the dogs barking.", "The dogs barking, at dusk he walked home."),
    ("They left, that this should end.", "They left, in order to this should end."),
    ("If we were ill, who would cook?", "If we's ill, who would cook?"),
    ("What is there in that box?", "What does there in that box?"),
    ('"Indeed! And who told you?"', '"In fact! And who told you?"'),
    ("She cried 'It is late!' and ran.", "She cried 'it is late!' and ran."),
    ("That very day he left.", "That extremely day he left."),
    ("They left, and before noon they ate.", "Before noon they ate, they left."),
    ("A gust shook the gate; he ran.", "As a gust shook the gate; he ran."),
    ("This was the old inn.", "The old inn was this."),
    ("And who am I to judge?", "And who'm I to judge?"),
    ("I saw him never again.", "He was seen by me never again."),
    ("Olga scolded Ivo by a look.", "Ivo was scolded by Olga by a look."),
]  # fmt: skip


@pytest.mark.parametrize(("original", "output"), SLIPS)
def test_a_slip_is_found_and_its_original_is_not_one(original, output):
    assert is_misphrased(original, output)
    assert not is_misphrased(original, original)


@pytest.mark.parametrize(
    ("original", "output"),
    [
        ("If it rains, they stay.", "They stay if it rains."),
        ("They stay if it rains.", "If it rains, they stay."),
        ("At first they stayed.", "Initially they stayed."),
        ("In order to win, they ran.", "To win, they ran."),
        ("They left because it rained.", "As it rained, they left."),
        ("A very old inn stood there.", "An extremely old inn stood there."),
        ("Ivo painted the gate in May.", "The gate was painted by Ivo in May."),
        ("The inn lies between the road and the lake.", "The inn lies between the lake and the road."),
        ("In May he left, and she stayed.", "In May he left, and she remained."),
    ],
)
def test_a_sound_turn_passes(original, output):
    assert not is_misphrased(original, output)


@pytest.mark.parametrize(
    ("original", "output", "reason"),
    [
        ("Thus she spoke.", "Hence she spoke.", "word_added"),
        ("Those in error deny it.", "Those in mistake deny it.", "word_lost"),
        ("They won, but rain fell in May.", "In May, they won, but rain fell.", "broken_grammar"),
        ("He went on with it.", "He went on it.", "broken_grammar"),
    ],
)  # fmt: skip
def test_the_guards_ask_for_it(original, output, reason):
    assert unfaithful(original, output) == reason
