"""Strings as codes, and tokens by their place in the text."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.syntax.parses import Coded
from tests.helpers.hand_parses import SCHEMES, parse_rows, sentence

STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=12)


def written(coded):
    return [coded.values[code] for code in coded.codes.tolist()]


@given(STRINGS)
def test_lower_case_is_that_of_each_string(strings):
    assert written(Coded.of(pa.array(strings, pa.string())).lowered()) == [text.lower() for text in strings]


@pytest.mark.parametrize("strings", [["ΑΣ", "Σ"], ["A\0B", "C"], ["\0"], ["İX"]])
def test_lower_case_of_letters_that_depend_on_their_neighbours(strings):
    assert written(Coded.of(pa.array(strings)).lowered()) == [text.lower() for text in strings]


@given(STRINGS, st.data())
def test_some_of_the_strings_keep_only_values_that_occur(strings, data):
    coded = Coded.of(pa.array(strings, pa.string()))
    places = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=6)) if strings else []
    some = coded.at(np.array(places, np.int64)).compacted()
    assert written(some) == [strings[place] for place in places]
    assert set(some.values) == {strings[place] for place in places} and len(some.values) == len(
        set(some.values)
    )


@pytest.mark.parametrize("is_coded", [False, True])
def test_tokens_by_their_place(is_coded):
    texts, rows = zip(*(sentence(name, SCHEMES[0]) for name in ("S1", "S4")), strict=True)
    parses = parse_rows(texts, rows)
    if is_coded:  # what a batch has when another rule has asked for all forms before
        assert parses.forms and parses.lower
    whole = written(parse_rows(texts, rows).forms)
    assert [parses.form_of(token) for token in range(len(whole))] == whole
    places = np.array([3, 0, 3, len(whole) - 1])
    assert written(parses.forms_at(places)) == [whole[place] for place in places]
    assert written(parses.lower_at(places)) == [whole[place].lower() for place in places]
    found = parses.holding("a", np.arange(len(whole)) != 1)
    assert found.tolist() == ["a" in word and place != 1 for place, word in enumerate(whole)]


def test_lemmas_of_some_tokens_bring_no_others_along():
    texts, rows = zip(sentence("S1", SCHEMES[0]), strict=True)
    parses = parse_rows(texts, rows)
    parses.strings["lemmas"] = parses.strings["lemmas"].dictionary_encode()
    some = parses.lemmas_at(np.array([2]))
    assert len(some.values) == 1 and written(some) == [written(parses.lemmas)[2]]


@pytest.mark.parametrize("asked", [0, 1, 10, 11, 40])  # few values are compared, many looked up
def test_strings_that_are_among_some(asked):
    strings = [str(number % 37) for number in range(200)]
    wanted = {str(number) for number in range(asked)}
    found = Coded.of(pa.array(strings, pa.string())).among(wanted)
    assert found.dtype == bool
    assert found.tolist() == [text in wanted for text in strings]


def test_no_strings_are_among_any():
    assert Coded.of(pa.array([], pa.string())).among({"a"}).tolist() == []


def test_some_of_many_strings_are_asked_of_those_that_occur() -> None:
    coded = Coded.of(pa.array(["The", "old", "Mill", "the"]))
    asked: list[str] = []

    def test(value: str) -> bool:
        asked.append(value)
        return value == "Mill"

    some = coded.at(np.array([2, 2]))
    assert some.where(test).tolist() == [True, True]
    assert asked == ["Mill"]
    assert some.lowered().values == ("mill",)
    assert some.among({"Mill"}).all() and not some.among({"old"}).any()
