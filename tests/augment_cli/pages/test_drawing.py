"""Pages: small pictures, and marked changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.pages.drawing import histogram, interval, lines, overlap_of, stacked_bar
from augment_cli.pages.layout import marked, word_edits

values = st.lists(st.floats(-2, 2), min_size=1, max_size=50).map(np.array)


@given(values, values)
def test_an_overlap_is_symmetric_and_whole_with_itself(first, second):
    share = overlap_of(first, second, 0.0, 1.0, 20)
    assert 0.0 <= share <= 1.0 and share == pytest.approx(overlap_of(second, first, 0.0, 1.0, 20))
    assert overlap_of(first, first, 0.0, 1.0, 20) == pytest.approx(1.0)


def test_a_picture_says_what_it_shows_and_escapes_it():
    picture = histogram([("a", np.array([0.1])), ("b", np.array([0.1, 0.9]))], 0.0, 1.0, 10, 'a "<b>"')
    assert 'aria-label="a &#34;&lt;b&gt;&#34;"' in picture and picture.count('class="overlap"') == 1
    assert "<title>a&lt;b: 50.0 %</title>" in stacked_bar([("a<b", 0.5)], "says")


def test_a_line_has_a_few_hundred_points_within_its_frame_and_leaves_out_what_is_not_a_number():
    values = np.where(np.arange(5_000) % 7, np.sin(np.arange(5_000)), np.nan)
    picture = lines([("loss", np.arange(5_000), values)], "says")
    points = [
        tuple(map(float, point.split(","))) for point in picture.split('points="')[1].split('"')[0].split()
    ]
    assert 200 <= len(points) <= 300
    assert all(0 <= x <= 640 and 0 <= y <= 180 for x, y in points)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert "nan" not in picture
    assert lines([("loss", np.arange(3), np.full(3, np.nan))], "says") == ""


def test_an_interval_stands_on_its_scale():
    picture = interval(2.0, 4.0, 6.0, 2.0, 6.0, "from 2 to 6")
    assert 'x1="4.0" x2="116.0"' in picture and 'cx="60.0"' in picture
    assert 'x1="4.0" x2="4.0"' in interval(1.0, 1.0, 1.0, 1.0, 1.0, "one value")


def applied(original, edits):
    for edit in reversed(edits):
        original = original[: edit["start"]] + edit["replacement"] + original[edit["end"] :]
    return original


@given(st.text(), st.text())
def test_edits_by_words_make_one_text_of_the_other(original, text):
    assert applied(original, word_edits(original, text)) == text
    assert word_edits(original, original) == []


def test_whole_words_are_marked_and_markup_is_text():
    before, after = marked("The <b>old</b> mill stood.", "The <b>new</b> mill isn't there.")
    assert before == "The &lt;b&gt;<del>old</del>&lt;/b&gt; mill <del>stood</del>."
    assert after == "The &lt;b&gt;<ins>new</ins>&lt;/b&gt; mill <ins>isn&#39;t there</ins>."
    edit = {"start": 4, "end": 7, "replacement": "young"}
    assert marked("The old mill.", "The young mill.", [edit])[1] == "The <ins>young</ins> mill."


def test_long_texts_are_cut_where_that_is_asked_for():
    text = "a long tale " * 200
    assert len(marked(text, "b" + text, most=50)[0]) < 120 < len(marked(text, "b" + text)[0])
    assert len(word_edits(text * 10, "b" + text * 10)) == 1  # comparing such texts would take too long
