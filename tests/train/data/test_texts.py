"""Texts as arrays: what comes out is what lists of texts say, one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from train.data.texts import NO_TEXT, Texts, text_ids

text = st.none() | st.lists(st.integers(0, 3), max_size=4)
lists = st.lists(text, max_size=6)


def texts_of(rows):
    return Texts.of([None if row is None else np.array(row, dtype=np.int64) for row in rows])


def as_lists(texts):
    return [None if ids is None else ids.tolist() for ids in texts]


@given(lists, lists, st.data())
def test_texts_are_those_of_a_list(first, second, data):
    assert as_lists(texts_of(first)) == first
    both = Texts.joined([texts_of(first), Texts.missing(2), texts_of(second)])
    rows = [*first, None, None, *second]
    assert as_lists(both) == rows
    assert as_lists(both.or_empty()) == [row or [] for row in rows]
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    assert as_lists(both.take(np.array(places, dtype=np.int64))) == [rows[place] for place in places]
    assert as_lists(both[1:]) == rows[1:]


@given(lists)
def test_equal_numbers_are_equal_texts(rows):
    """Small tokens, so that sums, products or orders of them would collide."""
    numbers = text_ids(texts_of(rows)).tolist()
    for row, number in zip(rows, numbers, strict=True):
        assert (number == NO_TEXT) == (row is None)
        assert number >= NO_TEXT
        assert [other == number for other in numbers] == [other == row for other in rows]
