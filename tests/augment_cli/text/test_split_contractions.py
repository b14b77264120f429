"""Contractions written apart: found, joined, and told of in places of the original."""

import numpy as np
import pytest

from augment_cli.text.untouched import original_places, spaces_within, without


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("do n't play , it 's late", "don't play , it's late"),
        ("i do n 't mind", "i don't mind"),
        ("i can 't , he 'll", "i can't , he'll"),
        ("It Is N\u2019t", "It IsN\u2019t"),
        ("the letter 's' is in 't", "the letter 's' is in 't"),
        ("rock 'n roll", "rock 'n roll"),
    ],
)
def test_what_is_written_apart_is_joined(text: str, joined: str) -> None:
    assert without(text, spaces_within(text)) == joined


def test_places_are_those_of_the_original() -> None:
    text = "He do n 't say it 's ill"
    places = spaces_within(text)
    joined = without(text, places)
    spans = [
        (joined.index(word), joined.index(word) + len(word)) for word in ("do", "n't", "say", "'s", "ill")
    ]
    starts, ends = (np.array(edge) for edge in zip(*spans, strict=True))
    first, last = original_places(starts, ends, places)
    assert [text[a:b] for a, b in zip(first, last, strict=True)] == ["do", "n 't", "say", "'s", "ill"]
    assert original_places(starts, starts, places)[0].tolist() == first.tolist()
