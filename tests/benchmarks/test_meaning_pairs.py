"""The baseline that counts negations: what is one, and that two of them are none."""

import pytest

from benchmarks.meaning_pairs import is_negated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He is not here.", True),
        ("He isn't here.", True),
        ("He isn’t here, and nobody is.", False),
        ("A knot in the Northern note.", False),
        ("No one CANNOT see it.", False),
        ("Nothing works.", True),
    ],
)
def test_an_odd_number_of_negations(text, expected):
    assert is_negated(text) is expected
