"""Words as spans: examples, and a slow reference that reads one character after the other."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.english.words.words import Words
from augment_cli.resources import word_list
from augment_cli.text.spans import CodePoints, EditList, apply_edits
from tests.helpers.properties import examples


def words_of(texts: list[str]) -> list[list[str]]:
    words = Words.of(CodePoints.of(pa.array(texts, pa.string())))
    strings = words.strings.to_pylist()
    return [strings[first:last] for first, last in zip(words.offsets[:-1], words.offsets[1:], strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Hello, (big) "world"!', ["Hello", "big", "world"]),
        ("They don't; she's well-known.", ["They", "don't", "she's", "well-known"]),
        ("3.5 of 1,000 cost $5 or 50%", ["3.5", "of", "1,000", "cost", "$5", "or", "50%"]),
        ("AT&T and C++ on www.example.org", ["AT&T", "and", "C++", "on", "www.example.org"]),
        ("The U.S. Army left the U.S.", ["The", "U.S.", "Army", "left", "the", "U.S"]),
        ("J. Smith saw Dr. No etc. today.", ["J.", "Smith", "saw", "Dr.", "No", "etc.", "today"]),
        ("this—that, he - she, one--two", ["this", "that", "he", "she", "one", "two"]),
        ("a…b “c” «d» [1]", ["a", "b", "c", "d", "1"]),
        ("é e\u0301 日本 Σ", ["é", "e\u0301", "日本", "Σ"]),
        ("... -- !? ''", []),
        ("% & #", []),
        ("", []),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert words_of([text]) == [expected]


SEPARATORS = '()[]{}<>"“”„«»‹›—–―…|*=~^\\'
SYMBOLS = "%‰°#@+&_§"


def kind(character: str) -> str:
    if character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85":
        return "space"
    if character in SEPARATORS:
        return "separator"
    if character in SYMBOLS:
        return "symbol"
    category = unicodedata.category(character)
    if category[0] == "Z":
        return "space"
    if category == "Cc":
        return "separator"
    if category[0] in "LMN":
        return "letter"
    return "symbol" if category in {"Sc", "So"} else "mark"


def slow_words(text: str) -> list[str]:
    kinds = [kind(character) for character in text]
    for place, character in enumerate(text):
        if character == "-" and "-" in {text[place - 1] if place else "", text[place + 1 : place + 2]}:
            kinds[place] = "separator"
    found, start = [], None
    for place in range(len(text) + 1):
        inside = place < len(text) and kinds[place] not in {"space", "separator"}
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            first, last = start, place
            while first < last and kinds[first] == "mark":
                first += 1
            while last > first and kinds[last - 1] == "mark":
                last -= 1
            if "letter" in kinds[first:last]:
                found.append((first, last))
            start = None
    return [text[first : last + keeps_period(text, first, last)] for first, last in found]


def keeps_period(text: str, first: int, last: int) -> bool:
    if text[last : last + 1] != "." or last + 1 >= len(text) or kind(text[last + 1]) != "space":
        return False
    pieces = text[first:last].split(".")
    letters = all(piece and all(unicodedata.category(c)[0] == "L" for c in piece) for piece in pieces)
    short = len(pieces) > 1 or len(text[first:last]) == 1
    return (letters and short) or text[first:last].lower() in word_list("abbreviations")


ODD = st.text(
    st.sampled_from("aB1 .,'’-–(\"“)$%&é日\u0301\u00a0\t…İß_") | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


@examples(300)
@given(st.lists(ODD, max_size=5))
def test_words_are_those_of_the_slow_reference(texts: list[str]) -> None:
    assert words_of(texts) == [slow_words(text) for text in texts]


@examples(100)
@given(st.lists(ODD, max_size=5))
def test_follows_space_means_white_space_alone(texts: list[str]) -> None:
    words = Words.of(CodePoints.of(pa.array(texts, pa.string())))
    joined = "".join(texts)
    for index, follows in enumerate(words.follows_space.tolist()):
        between = joined[words.flat_ends[index - 1] : words.flat_starts[index]] if index else ""
        same_row = index > 0 and words.rows[index] == words.rows[index - 1]
        assert follows == (same_row and between != "" and all(kind(c) == "space" for c in between))


def test_places_in_the_row_are_what_an_edit_list_takes() -> None:
    """The flat ones would edit the first row as wanted, and point beyond the second."""
    texts = pa.array(["a grey heron waits", "so do we"])
    code_points = CodePoints.of(texts)
    words = Words.of(code_points)
    last = words.offsets[1:] - 1
    edits = EditList()
    edits.replace(
        words.rows[last], words.row_starts[last], words.row_ends[last], ["X"], np.zeros(2, np.int64)
    )
    assert apply_edits(code_points, edits.edits()).to_pylist() == ["a grey heron X", "so do X"]
    assert not hasattr(words, "starts")  # the short name would not say which of the two it is
    wrong = EditList()
    flat = words.flat_starts[last], words.flat_ends[last]
    wrong.replace(words.rows[last], *flat, ["X"], np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=r"edit 24:26 of row 1 .* 8 characters; .* row's own text"):
        apply_edits(code_points, wrong.edits())
