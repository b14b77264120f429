"""The pictures' numbers, and what they say and show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.pages.drawing import histogram, interval, lines, overlap_of, stacked_bar

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
