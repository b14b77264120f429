"""Edits on columns of texts, character classes, contractions written apart."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.text.spans import CodePoints, Edits, apply_edits, ascending_slices, ranges, strings_of
from augment_cli.text.surface import ALPHANUMERIC, LOWER, UPPER, character_classes
from augment_cli.text.untouched import original_places, spaces_within, without

CHARACTERS = st.sampled_from("ab .,'\"éßİ日𝔸\u0301\u00a0🙂")
Edit = tuple[int, int, int, str]  # row, start, end, what stands there instead
TEXTS = st.lists(st.text(CHARACTERS, max_size=12), min_size=1, max_size=8)


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[list[str], list[Edit]]:
    texts = draw(TEXTS)
    edits = []
    for row, text in enumerate(texts):
        bounds = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        for start, end in zip(bounds[0::2], bounds[1::2], strict=False):
            edits.append((row, start, end, draw(st.text(CHARACTERS, max_size=4))))
    return texts, edits


def make_edits(edits: list[Edit]) -> Edits:
    rows, starts, ends, new = zip(*edits, strict=True) if edits else ((), (), (), ())
    spans = np.array(starts, np.int32), np.array(ends, np.int32)
    return Edits(np.array(rows, np.int64), *spans, pa.array(new, pa.string()))


def apply_one_by_one(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, replacement in reversed(edits):
        text = text[:start] + replacement + text[end:]
    return text


@given(texts_and_edits())
def test_edits_equal_slicing_each_string(case):
    texts, edits = case
    result = apply_edits(CodePoints.of(pa.array(texts, pa.string())), make_edits(edits)).to_pylist()
    by_row = [[edit[1:] for edit in edits if edit[0] == row] for row in range(len(texts))]
    assert result == [apply_one_by_one(text, by_row[row]) for row, text in enumerate(texts)]


@given(texts_and_edits())
def test_the_edits_column_holds_every_edit_in_its_row(case):
    texts, edits = case
    column = make_edits(edits).as_column(len(texts)).to_pylist()
    assert [[tuple(edit.values()) for edit in of_row] for of_row in column] == [
        [edit[1:] for edit in edits if edit[0] == row] for row in range(len(texts))
    ]


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([(0, 2, 4, "x"), (0, 3, 5, "y")], id="overlap"),
        pytest.param([(0, 4, 9, "x")], id="beyond the text's end"),
        pytest.param([(0, -1, 1, "x")], id="before the text's start"),
        pytest.param([(0, 3, 2, "x")], id="backwards"),
        pytest.param([(1, 0, 1, "x"), (0, 0, 1, "y")], id="rows not sorted"),
    ],
)
def test_impossible_edits_are_refused(edits):
    with pytest.raises(ValueError, match=r"sorted|is not a span"):
        apply_edits(CodePoints.of(pa.array(["abcde", "fghij"])), make_edits(edits))


@given(TEXTS, st.integers(0, 3))
def test_code_points_of_a_slice_equal_python(texts, skip):
    column = pa.array(texts, pa.string()).slice(min(skip, len(texts)))
    points = CodePoints.of(column)
    kept = texts[min(skip, len(texts)) :]
    assert np.diff(points.offsets).tolist() == [len(text) for text in kept]
    assert points.values.tolist() == [ord(character) for text in kept for character in text]
    rows = np.repeat(np.arange(len(kept)), np.diff(points.offsets) + 1)  # each code point, and the end
    within = [place for text in kept for place in range(len(text) + 1)]
    found = points.bytes_at(rows, points.offsets[rows] + np.array(within, np.int64))
    expected = [len(text[:place].encode()) for text in kept for place in range(len(text) + 1)]
    assert (found - points.byte_offsets[rows]).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=20))
def test_ranges_equal_a_loop(pairs):
    starts = np.array([start for start, _ in pairs], np.int64)
    lengths = np.array([length for _, length in pairs], np.int64)
    assert ranges(starts, lengths).tolist() == [start + i for start, length in pairs for i in range(length)]


@given(st.text("aé語 "), st.data())
def test_ascending_slices_equal_slicing(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    cuts = cuts[: len(cuts) // 2 * 2]
    points = CodePoints.of(pa.array([text]))
    first, last = points.byte_positions[cuts[::2]], points.byte_positions[cuts[1::2]]
    pieces = strings_of(ascending_slices(points.data, first, last))
    assert pieces[::2] == [text[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    assert "".join(pieces) == text[cuts[0] if cuts else len(text) :]
    assert all(isinstance(piece, str) for piece in pieces)


def test_classes_are_those_of_python():
    """Of the alphabets all, of the rest some code points, surrogates among them."""
    classes = character_classes()
    assert len(classes) == 0x110000
    codes = [*range(0x3000), *range(0x3000, 0x110000, 41)]
    for flag, test in ((UPPER, str.isupper), (LOWER, str.islower), (ALPHANUMERIC, str.isalnum)):
        assert [bool(one) for one in classes[codes] & flag] == [test(chr(code)) for code in codes]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("do n't play , it 's late", "don't play , it's late"),
        ("i do n 't mind", "i don't mind"),
        ("It Is N\u2019t", "It IsN\u2019t"),
        ("the letter 's' is in 't", "the letter 's' is in 't"),
        ("rock 'n roll", "rock 'n roll"),
    ],
)
def test_what_is_written_apart_is_joined(text, joined):
    assert without(text, spaces_within(text)) == joined


def test_places_are_those_of_the_original():
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
