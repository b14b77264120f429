"""The primary comparisons of a small grid, from numbers made up."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from augment_cli.errors import UsageError
from benchmarks.reproduce.document.primary import findings, table
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.paired import holm
from benchmarks.reproduce.units import make_units


@pytest.fixture
def grid(small_grid):
    primary = (
        Primary("augmented", "simcse", "Does it help?", "the same but for the negatives", 1.0),
        Primary("translated", "simcse", "Does this?", "the same but for the positive", 0.5),
    )
    return dataclasses.replace(load_grid(small_grid), primary=primary)


def scores_of(**rows):
    return {
        row: {seed: {"average": value} for seed, value in enumerate(values)} for row, values in rows.items()
    }


def test_each_comparison_has_scipys_interval_and_a_place_in_holms_correction(grid):
    augmented, simcse, translated = [61.0, 61.4, 61.1], [60.0, 60.3, 60.2], [60.1, 60.2, 60.4]
    found = findings(grid, scores_of(augmented=augmented, simcse=simcse, translated=translated))
    tests = [stats.ttest_rel(row, simcse) for row in (augmented, translated)]
    for one, test in zip(found, tests, strict=True):
        assert one.difference.p == pytest.approx(test.pvalue)
        assert (one.difference.low, one.difference.high) == pytest.approx(
            tuple(test.confidence_interval(0.95))
        )
    assert [one.adjusted for one in found] == pytest.approx(holm([test.pvalue for test in tests]))
    assert [one.verdict for one in found] == ["holds", "not significant"]
    lines = table(found, grid)
    assert lines[2].startswith("| Does it help? | UNA, random | SimCSE | +1.00 | +1.00 (")
    assert lines[2].endswith("| – | holds |")


def test_seeds_that_one_row_lacks_are_left_out_and_a_missing_row_is_not_measured(grid):
    found = findings(grid, scores_of(augmented=[61.0, 61.4], simcse=[60.0, 60.3, 60.2]))
    assert (found[0].difference.seeds, found[1].difference) == (2, None)
    assert found[0].adjusted == pytest.approx(
        2 * found[0].difference.p
    )  # the other still counts as a comparison
    assert found[1].verdict == "not measured"


def test_kept_similarities_give_the_interval_of_the_test_sets(grid, tmp_path):
    generator = np.random.default_rng(0)
    gold = generator.normal(size=200)
    for seed in range(2):
        for row, noise in (("augmented", 0.3), ("simcse", 2.0)):
            values = {"stsb-gold": gold, "stsb-dev-gold": gold}
            for name in ("stsb", "stsb-dev"):
                values[f"{name}-similarity"] = gold + generator.normal(0, noise, 200)
            np.savez(tmp_path / f"{row}-{seed}-abc.npz", **values)
    scores = scores_of(augmented=[90.0, 91.0], simcse=[40.0, 42.0])
    low, high = findings(grid, scores, tmp_path)[0].test_sets
    assert 20 < low < high < 80
    assert findings(grid, scores, tmp_path / "nowhere")[0].test_sets is None

    # Kept beside the results, they are there where the similarities are not; of other seeds they say nothing.
    kept = tmp_path / "intervals.json"
    findings(grid, scores, tmp_path, kept)
    assert findings(grid, scores, tmp_path / "nowhere", kept)[0].test_sets == pytest.approx(
        (low, high), abs=1e-4
    )
    fewer = scores_of(augmented=[90.0], simcse=[40.0])
    assert findings(grid, fewer, tmp_path / "nowhere", kept)[0].test_sets is None


def test_the_shipped_grid_names_ten_at_most_and_their_rows_come_first_with_all_seeds():
    grid = load_grid()
    profile = grid.profiles["bed"]
    units = make_units(grid, profile, grid.rows, encoder="e" * 64)
    rows = [unit for unit in units if unit.recipe and unit.row.name in grid.primary_rows]
    assert 0 < len(grid.primary) <= 10
    assert len(rows) == len(grid.primary_rows) * len(profile.seeds)
    trained = [unit for unit in units if unit.recipe]
    assert trained[: len(rows)] == rows
    assert [unit.seed for unit in rows] == sorted((u.seed for u in rows), key=profile.seeds.index)
    rest = trained[len(rows) :]
    ours = [unit.seed for unit in rest if unit.row.all_seeds]
    assert set(ours) == set(profile.seeds)
    others = {unit.seed for unit in rest if not unit.row.all_seeds}
    assert others == set(profile.seeds[: profile.other_seeds]) | {0}  # rows that are trained once have 0


def test_eleven_primary_comparisons_are_refused(small_grid, tmp_path):
    one = '[[primary]]\nbetter = "augmented"\nworse = "simcse"\npublished = 1.0\n'
    one += 'question = "?"\ncontrol = "."\n'
    path = tmp_path / "grid.toml"
    path.write_text(small_grid.read_text(encoding="utf-8") + 11 * one, encoding="utf-8")
    with pytest.raises(UsageError, match="11 primary comparisons; name 10 at most"):
        load_grid(path)
