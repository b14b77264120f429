"""Words with characters that a model does not know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.augmentations.models.paraphrase import readable


def knows(character):
    return character.isascii()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A naïve boy.", "A naive boy."),
        ("‘Quiet,’ said Łukasz.", "'Quiet,' said Lukasz."),
        ("Plain words.", "Plain words."),
        ("It costs €5 a day.", "It costs 5 a day."),
    ],
)
def test_a_model_reads_a_stand_in_and_the_word_is_put_back(text, read):
    copied = readable(text, knows)
    assert copied.text == read
    assert copied.restored(read) == text


@pytest.mark.parametrize("text", ["The δ is small.", "The naïve boy and the naíve girl."])
def test_a_word_without_a_stand_in_of_its_own_is_not_read(text):
    assert readable(text, knows) is None


def test_a_word_that_does_not_come_back_is_seen():
    copied = readable("The naïve boy slept.", knows)
    assert copied.restored("The boy slept.") is None
    assert copied.restored("The naive naive boy slept.") is None
    assert readable("The naïve boy is naive.", knows).restored("The naive boy is naive.") is None


@given(st.text(alphabet="abé ‘’Łï.,δ", max_size=20))
def test_what_is_read_again_as_it_is_written_is_the_text(text):
    copied = readable(text, knows)
    if copied is not None and (restored := copied.restored(copied.text)) is not None:
        assert restored == text
