"""The primary comparisons over two beds, from numbers made up."""

import dataclasses
import re

import pytest
from scipy import stats

from benchmarks.reproduce.document import opening
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
    assert found.adjusted == found.difference.p
    lines = section(grid, [found])
    assert lines[-2].startswith("| UNA, random | SimCSE | +1.00 | +1.05 | +0.97 | +1.00 (")
    assert re.search(r"\) \| 5 \| (< )?0\.\d+ \| holds \|$", lines[-2])
    told = "\n".join(opening.lines(grid, grid.rows, here, [], [], [found]))
    assert "Over both beds ([below](#both-beds-together)): **Helps**: UNA, random over SimCSE +1.00 (" in told


def test_without_another_bed_nothing_is_said(grid):
    here = scores_of([0, 7], augmented=[63.1, 62.8], simcse=[62.0, 62.1])
    assert findings(grid, {}, here) == []
    assert section(grid, []) == []
    assert "both beds" not in "\n".join(opening.lines(grid, grid.rows, here, [], []))
