"""The answer in ten lines and the picture, from numbers made up."""

import dataclasses

import pytest

from benchmarks.reproduce.document import conclusions, forest, opening
from benchmarks.reproduce.document.primary import findings
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.plan import Entry
from benchmarks.reproduce.repeat import bounds, compared
from benchmarks.reproduce.results import Result
from benchmarks.reproduce.units import Unit


@pytest.fixture
def grid(small_grid):
    primary = (
        Primary("augmented", "simcse", "Does it help?", "the same but for the negatives", 1.0),
        Primary("translated", "simcse", "Does this?", "the same but for the positive", 0.5),
    )
    return dataclasses.replace(load_grid(small_grid), primary=primary)


def scores_of(**rows):
    return {
        row.replace("_", "-"): {seed: {"average": value} for seed, value in enumerate(values)}
        for row, values in rows.items()
    }


def opened(grid, scores):
    seedless = frozenset(row.name for row in grid.rows if not row.has_seed)
    rows = [row for row in grid.rows if not row.sweep]
    found = findings(grid, scores)
    judged = conclusions.judged(grid, rows, scores, seedless, found)
    return "\n".join(opening.lines(grid, rows, scores, found, judged))


def test_what_helps_hurts_or_cannot_be_told_is_said_with_its_interval(grid):
    start, simcse = [50.0], [60.0, 60.2, 60.1, 60.3]
    better, worse = ([value + step for value in (59.9, 60.3, 60.0, 60.3)] for step in (3.0, -3.0))
    text = opened(grid, scores_of(no_training=start, simcse=simcse, augmented=better, translated=worse))
    assert "**Training against none** (STS average 50.00): SimCSE, +10.15 (+9.94 to +10.36), 4 seeds." in text
    assert "**Helps**: UNA, random over SimCSE +2.9" in text
    assert "**Hurts**: back-translation over SimCSE -3.0" in text
    assert "needs no training" not in text  # nothing but the start itself
    assert len(text.splitlines()) <= 10

    noisy = [60.9, 59.1, 61.0, 59.8]
    text = opened(grid, scores_of(no_training=start, simcse=simcse, augmented=noisy, translated=[61.0]))
    assert "**Not significant after Holm's correction**: UNA, random over SimCSE +0.05" in text
    assert "**Too few seeds to say**: back-translation over SimCSE +1.00." in text
    assert "**Not measured yet**: back-translation" in opened(grid, scores_of(simcse=simcse, augmented=noisy))


def test_the_best_that_needs_no_training_stands_beside_the_trained_rows(grid):
    rows = (*grid.rows, dataclasses.replace(grid.row("no-training"), name="words", title="word table"))
    scores = scores_of(no_training=[50.0], words=[61.0], simcse=[60.0, 60.2], augmented=[62.9, 63.3])
    text = opened(dataclasses.replace(grid, rows=rows), scores)
    assert (
        "**The best that needs no training**: word table, 61.00; 1 of the 2 trained rows is above it." in text
    )


def test_the_picture_has_a_line_for_each_comparison_that_was_measured(grid, tmp_path):
    scores = scores_of(simcse=[60.0, 60.2], augmented=[61.0, 61.1], translated=[59.0])
    assert forest.draw_forest(findings(grid, scores), grid, tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"
    assert not forest.draw_forest(findings(grid, {}), grid, tmp_path / "none.png")


def test_a_repetition_may_lie_two_deviations_from_the_mean_of_the_seeds():
    low, high = bounds([60.0, 61.0, 62.0])
    assert (low, high) == pytest.approx((58.995, 63.005))
    assert bounds([60.0]) == pytest.approx((58.395, 61.605))
    assert bounds([60.0], has_seed=False) == pytest.approx((59.945, 60.055))


def test_a_repetition_says_where_it_differs_from_the_same_encoder(grid):
    row = next(row for row in grid.rows if row.name == "simcse")

    def recorded(seed, made):
        unit = Unit(row, seed, None, "key", (), (), (), encoder="c766")
        scores = {"stsb": 0.6, "stsb-dev": 0.7, "seconds": 60.0}
        return Entry(unit, {"sts": Result("simcse", seed, "sts", "key", {}, scores, made)}, ())

    first, second = recorded(1, {"encoder": "c766"}), recorded(2, {"encoder": "c766"})
    again = {"stsb": 0.6, "stsb-dev": 0.7, "seconds": 5.0}
    near, far = again | {"stsb": 0.612}, again | {"stsb": 0.63}
    start = "simcse 1: recorded 60.00, again "
    once = "±1.6, which two seeds of one row may differ by (one seed recorded)"
    why = (
        "on average though it starts from the same encoder: another processor or library rounds otherwise, "
        "or settings or data are others"
    )
    said = f"{start}60.00, identical in all digits"
    assert compared(first.unit, [first], again) == (True, said)
    said = f"{start}61.20, differs by 1.2000 {why}; within {once}"
    assert compared(first.unit, [first], near) == (True, said)
    said = f"{start}63.00, differs by 3.0000 {why}; OUTSIDE {once}"
    assert compared(first.unit, [first], far) == (False, said)
    said = f"{start}61.20, differs by 1.2000 {why}; OUTSIDE 59.99 to 60.01 (2 seeds recorded)"
    assert compared(first.unit, [first, second], near) == (False, said)
    # From another encoder, or one that an old line does not name.
    for made in ({"encoder": "17d3"}, {}):
        assert compared(first.unit, [recorded(1, made)], near) == (True, f"{start}61.20, within {once}")
