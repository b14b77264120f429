"""Published differences over the test sets that were scored here; over all where no columns are printed."""

import dataclasses

import pytest

from benchmarks.reproduce.entries import Claim, Primary
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.published import OTHER_SETS, difference, like_for_like

COLUMNS = {
    "theirs": {"stsb": 80.0, "sts12": 70.0, "sickr": 60.0},
    "base": {"stsb": 77.0, "sts12": 69.0, "sickr": 66.0},
}
SCORES = {"simcse": {42: {"stsb-dev": 80.0, "stsb": 75.0, "sts12": 65.0, "average": 70.0}}}


@pytest.fixture
def grid(small_grid):
    grid = load_grid(small_grid)
    tasks = dataclasses.replace(grid.evaluations["sts"], tasks=("stsb-dev", "stsb", "sts12", "sickr"))
    rows = [
        dataclasses.replace(row, published=dataclasses.replace(row.published, on=("theirs", "base")))
        if row.name == "augmented"
        else row
        for row in grid.rows
    ]
    one = Primary("augmented", "simcse", "Does it?", "all", -0.67, on=("theirs", "base"))
    claims = (Claim("augmented", "simcse", published=1.5), Claim("augmented", "simcse", "dev", 1.5))
    return dataclasses.replace(
        grid,
        rows=tuple(rows),
        primary=(one,),
        claims=claims,
        columns=COLUMNS,
        evaluations=grid.evaluations | {"sts": tasks},
    )


def test_a_difference_is_over_the_sets_that_have_scores(grid):
    """Over all three sets the paper loses two thirds of a point; over the two that are here it gains two."""
    alike = like_for_like(grid, grid.profiles["cpu"], SCORES)
    assert alike.primary[0].published == 2.0 and alike.primary[0].note == ""
    published = alike.row("augmented").published
    assert (published.difference, published.score, published.sets) == (2.0, 72.0, "")
    every = {"simcse": {42: SCORES["simcse"][42] | {"sickr": 50.0}}}
    assert like_for_like(grid, grid.profiles["cpu"], every).primary[0].published == -0.67


def test_where_no_columns_are_printed_the_difference_stays_and_says_so(grid):
    alike = like_for_like(grid, grid.profiles["cpu"], SCORES)
    average, dev = alike.claims
    assert (average.published, average.note) == (1.5, OTHER_SETS)
    assert dev == grid.claims[1]  # one set, the same one
    assert alike.row("simcse").published.sets == OTHER_SETS
    assert alike.row("translated") == grid.row("translated")
    assert (
        difference(grid, (), ("stsb",)) is None and difference(grid, ("theirs", "base"), ("sts16",)) is None
    )


def test_before_anything_is_scored_the_printed_difference_stands(grid):
    alike = like_for_like(grid, grid.profiles["cpu"], {})
    assert alike.primary[0].published == -0.67 and alike.row("augmented").published.difference == -3.0


def test_columns_have_the_averages_that_their_papers_print():
    """Over all its test sets they give each row's published difference, but for what a paper rounds."""
    grid = load_grid()
    found = 0
    for row in grid.rows:
        item = row.published
        if item and item.on:
            better = grid.columns[item.on[0]]
            tasks = [task for task in better if task != "sst2-sentences"]
            assert difference(grid, item.on, tasks) == pytest.approx(item.score - item.baseline, abs=0.021), (
                row
            )
            found += 1
    assert found > 20
    stated = [(one.on, one.published) for one in grid.primary]
    stated += [(one.on, one.published) for one in grid.claims]
    for on, published in stated:
        if on:
            tasks = [task for task in grid.columns[on[0]] if task != "sst2-sentences"]
            assert difference(grid, on, tasks) == pytest.approx(published, abs=0.021), on
