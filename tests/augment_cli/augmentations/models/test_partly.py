"""What is sound of an output that is turned down; the sentences were written for these tests."""

from augment_cli.augmentations.models.rewriting import sound_part
from augment_cli.english.guards.fidelity import unfaithful


def is_sound_for(original):
    return lambda text: text != original and unfaithful(original, text) is None


def test_a_wrong_change_is_undone_and_a_sound_one_kept():
    original = "The species occur in Asia, but we do not know why."
    output = "The species happen in Asia, but we don't know why."
    assert sound_part(original, output, is_sound_for(original)) == original.replace("do not", "don't")


def test_without_a_sound_change_there_is_no_part():
    original = "The species occur in Asia."
    assert sound_part(original, "The species happen in Europe.", is_sound_for(original)) is None


def test_words_that_come_or_go_are_no_part():
    original = "There are old boats."
    assert sound_part(original, "There are many old boats.", lambda text: True) is None
