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


MORE_SLIPS = [
    ("Only then did he leave.", "Then did he leave."),
    ("But Olga offered no help.", "No help was offered by Olga."),
    ("This follows from it.", "These follows from it."),
    ("Not another word was said.", "Not other word was said."),
    ("He does not eat.", "He don't eat."),
    ("The delay is due directly to rain.", "The delay is because directly to rain."),
    ("A half-grown girl sang.", "A half-tall girl sang."),
    ('The "weak" one is next to the "strong" one.', 'The "weak" one is next to the "powerful" one.'),
    ("They sold the remaining part.", "They sold the staying part."),
    ("The children's games helped.", "The kids's games helped."),
    ("There are so many rooms.", "There are so a large number of rooms."),
    ("They arrive at that.", "They arrive to at that."),
    ("It may very well rain.", "It may extremely well rain."),
    ("Do not think it rained.", "It rained, don't think."),
    ("I thought it rained, and that it froze.", "It rained, and that it froze, I thought."),
    ("It is the valet.", "It is the valet of it."),
    ("They bordered the bay of Oslo.", "They bordered bay of Oslo."),
    ("He was called back.", "He was known as back."),
    ("She is the most powerful one.", "She is the most strong one."),
    ("How we ate I have no idea.", "For what way we ate I have no idea."),
    ("Harry was staying at home.", "Harry was remaining at home."),
    ("A nerve less tried broke.", "A nerve less attempted broke."),
    ("He awaited next day's talk.", "He awaited the talk of next day."),
    ("They parted at night.", "They parted during the night."),
    ("He soon moved.", "He soon subsequently moved."),
    ("It is like a child.", "It is like a kid."),
    ("The dress hardly moved.", "The dress moved hardly."),
    ("Such was the home that he left.", "The home that he left was such."),
    ("You have happened upon us.", "You have occurred on us."),
    ("No indeed, men of Oslo.", "No in fact, men of Oslo."),
    ("She was moaning and groaning.", "She was groaning and groaning."),
    ("Tears started to his eyes.", "Tears began to his eyes."),
    ("It has rooms such as the king never saw.", "It has rooms like the king never saw."),
]  # fmt: skip


@pytest.mark.parametrize(("original", "output"), MORE_SLIPS)
def test_a_slip_of_a_later_reading_is_found(original, output):
    assert is_misphrased(original, output)
    assert not is_misphrased(original, original)
