"""The primary comparisons over two beds, from numbers made up."""

import dataclasses

import pytest
from scipy import stats

from benchmarks.reproduce.document import opening, primary
from benchmarks.reproduce.document.together import findings, section
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import load_grid


@pytest.fixture
def grid(small_grid):
    primary = (
        Primary("augmented", "simcse", "Does it help?", "the same but for the negatives", 1.0),
        Primary("translated", "simcse", "Does this?", "the same but for the positive", 0.5),
    )
    return dataclasses.replace(load_grid(small_grid), primary=primary)


def scores_of(seeds, **rows):
    return {
        row: {seed: {"average": value} for seed, value in zip(seeds, values, strict=True)}
        for row, values in rows.items()
    }


def test_differences_are_taken_within_a_bed_and_put_together(grid):
    # Seed 0 is on both beds, which are two points apart: compared across beds nothing would be left.
    other = scores_of([42, 0], augmented=[61.0, 61.4], simcse=[60.0, 60.3], translated=[60.0, 60.2])
    here = scores_of([0, 7, 9], augmented=[63.1, 62.8, 63.0], simcse=[62.0, 62.1, 61.9])
    (found,) = findings(grid, other, here)  # `translated` was measured on one bed alone
    gaps = [1.0, 1.1, 1.1, 0.7, 1.1]
    test = stats.ttest_1samp(gaps, 0)
    assert found.primary.better == "augmented"
    assert found.beds == pytest.approx((1.05, 2.9 / 3))
    assert (found.difference.seeds, found.difference.p) == (5, pytest.approx(test.pvalue))
    lines = section(grid, [found])
    assert lines[-2].startswith("| UNA, random | SimCSE | +1.00 | +1.05 | +0.97 | +1.00 (")
    assert lines[-2].endswith(") | 5 |")
    told = "\n".join(opening.lines(grid, grid.rows, here, [], [], [found]))
    assert (
        "**Over both beds, interval above zero** ([below](#both-beds-together), an estimate, not a " in told
    )
    assert "test): UNA, random over SimCSE +1.00 (" in told


def test_the_first_bed_says_what_became_of_its_gains(grid):
    sure = scores_of([0, 7, 9, 11], augmented=[63.1, 62.9, 63.0, 63.0], simcse=[62.0, 62.0, 62.0, 62.0])
    unsure = scores_of([1, 2, 3], augmented=[63.5, 62.0, 62.1], simcse=[62.0, 62.1, 62.0])
    first, second = primary.findings(grid, sure), primary.findings(grid, unsure)
    told = "\n".join(opening.lines(grid, grid.rows, sure, first, [], again=second))
    assert "of the 1 that help, 1 have the same sign (+0.50 to +0.50), and none is significant there" in told
    assert "fresh seeds" not in "\n".join(opening.lines(grid, grid.rows, unsure, second, [], again=first))


def test_without_another_bed_nothing_is_said(grid):
    here = scores_of([0, 7], augmented=[63.1, 62.8], simcse=[62.0, 62.1])
    assert findings(grid, {}, here) == []
    assert section(grid, []) == []
    assert "both beds" not in "\n".join(opening.lines(grid, grid.rows, here, [], []))
