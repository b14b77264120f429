"""Differences, noise and verdicts, and the document that says them."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.command import main
from benchmarks.reproduce.comparisons import Difference, difference, noise, shared, threshold, verdict
from benchmarks.reproduce.document import curves, sweeps
from benchmarks.reproduce.document.primary import findings
from benchmarks.reproduce.document.scores import scores_of, write_csv
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.evidence import Drawn, document
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.plan import Entry, show
from benchmarks.reproduce.results import TRAINING, Result
from benchmarks.reproduce.units import make_units

GOLDEN = Path(__file__).parent / "golden" / "evidence.md"
points = st.floats(0, 100)


def table(**rows):
    return {row: {seed: {"dev": value} for seed, value in enumerate(values)} for row, values in rows.items()}


def test_a_difference_is_taken_seed_by_seed():
    scores = {
        "a": {0: {"dev": 3.0}, 1: {"dev": 5.0}, 2: {"dev": 9.0}},
        "b": {1: {"dev": 4.0}, 0: {"dev": 1.0}},
    }
    assert difference(scores, "a", "b", "dev") == Difference(1.5, pytest.approx(math.sqrt(0.5)), 2)
    assert difference(scores, "a", "c", "dev") is None
    assert difference(scores, "a", "b", "average") is None


def test_a_row_without_seeds_stands_beside_each_seed():
    scores = {"a": {0: {"dev": 3.0}, 1: {"dev": 5.0}}, "none": {42: {"dev": 1.0}}}
    found = difference(scores, "a", "none", "dev", frozenset({"none"}))
    assert found == Difference(3.0, pytest.approx(math.sqrt(2)), 2)
    assert difference(scores, "none", "a", "dev", frozenset({"none"})).mean == -3.0


def test_values_of_a_sweep_are_compared_over_the_seeds_they_share():
    scores = {
        "many": {0: {"dev": 9.0}, 1: {"dev": 8.0}, 42: {"dev": 1.0}},
        "one": {42: {"dev": 2.0}},
        "other": {0: {"dev": 7.0}},
    }
    assert shared(scores, ["many", "one", "absent"]) == {
        "many": {42: {"dev": 1.0}},
        "one": {42: {"dev": 2.0}},
    }
    assert shared(scores, ["one", "other"]) == {}
    assert shared(scores, []) == {}


@given(st.lists(st.lists(st.tuples(points, points), min_size=1, max_size=5), min_size=1, max_size=5))
def test_noise_is_the_pooled_deviation_of_the_differences(rows):
    scores, pairs, differences = {}, [], []
    for number, values in enumerate(rows):
        names = (f"better{number}", f"worse{number}")
        for name, column in zip(names, zip(*values, strict=True), strict=True):
            scores |= table(**{name: column})
        pairs.append(names)
        differences.append(np.array([first - second for first, second in values]))
    found = noise(scores, pairs, "dev")
    several = [values for values in differences if len(values) > 1]
    if not several:
        assert math.isnan(found)
        return
    residuals = np.concatenate([values - values.mean() for values in several])
    assert found == pytest.approx(math.sqrt((residuals**2).sum() / (len(residuals) - len(several))), abs=1e-6)


def test_what_a_seed_adds_to_both_rows_is_no_noise():
    scores = table(a=[10.0, 30.0, 50.0], b=[9.0, 29.0, 49.0])
    assert noise(scores, [("a", "b")], "dev") == 0.0


@pytest.mark.parametrize(
    ("mean", "published", "said"),
    [(2.1, 1.0, "holds"), (2.1, 0.0, "holds"), (-2.1, -1.0, "holds"), (2.1, -1.0, "reversed"),
     (-2.1, 1.0, "reversed"), (1.9, 1.0, "within noise"), (-1.9, 1.0, "within noise")],
)  # fmt: skip
def test_a_verdict_needs_two_standard_errors(mean, published, said):
    # Noise 2 with four seeds: the mean has a standard error of 1.
    assert verdict(Difference(mean, 0.1, 4), 2.0, published) == said


@pytest.mark.parametrize(("mean", "said"), [(1.9, "holds"), (-1.9, "holds"), (2.1, "reversed")])
def test_that_there_is_no_difference_is_a_conclusion_too(mean, said):
    assert verdict(Difference(mean, 0.1, 4), 2.0, 0.0, alike=True) == said


def test_a_difference_that_varies_more_than_others_needs_more():
    assert verdict(Difference(3.0, 2.0, 4), 2.0, 1.0) == "holds"
    assert verdict(Difference(3.0, 4.0, 4), 2.0, 1.0) == "within noise"
    assert threshold(Difference(3.0, math.nan, 1), 2.0) == 4.0


def test_without_numbers_there_is_no_verdict():
    assert verdict(None, 1.0, 1.0) == "not measured"
    assert verdict(Difference(5.0, math.nan, 1), math.nan, 1.0) == "noise unknown"


@given(points, points, st.integers(1, 9), st.floats(0.01, 5))
def test_exchanging_the_rows_exchanges_holds_and_reversed(first, second, seeds, sd):
    swap = {"holds": "reversed", "reversed": "holds", "within noise": "within noise"}
    there = verdict(Difference(first - second, 0.0, seeds), sd, 1.0)
    assert verdict(Difference(second - first, 0.0, seeds), sd, 1.0) == swap[there]


@pytest.fixture
def drawn(small_grid):
    """The small grid with made-up results: one row whole, one with a seed, one that cannot be made."""
    grid = load_grid(small_grid)
    profile = grid.profiles["cpu"]
    numbers = {
        ("no-training", 42): (0.60, 0.50), ("simcse", 42): (0.66, 0.56), ("simcse", 0): (0.64, 0.55),
        ("augmented", 42): (0.61, 0.515), ("rate-1e-05", 42): (0.65, 0.555),
    }  # fmt: skip
    entries = []
    for unit in make_units(grid, profile, grid.rows, encoder="e" * 64):
        found = {}
        if (unit.row.name, unit.seed) in numbers:
            dev, test = numbers[unit.row.name, unit.seed]
            scores = {"sts": {"stsb-dev": dev, "stsb": test, "seconds": 9.0}, "clustering": {"agnews": 0.7}}
            scores[TRAINING] = {
                "best": dev,
                "seconds": 20.0,
                "seconds_per_1000_rows": 4.5,
                "steps": 3,
                "cpu_seconds": 0.24,
            }
            found = {
                name: Result(unit.row.name, unit.seed, name, unit.key, {}, scores[name], {})
                for name in unit.evaluations
            }
        missing = () if found or unit.row.name == "translated" else unit.evaluations
        reason = "no such augmentation" if unit.row.name == "translated" else ""
        entries.append(Entry(unit, found, missing, reason))
    return grid, profile, entries, scores_of(grid, profile, entries)


def test_the_document(drawn):
    """Golden: made-up numbers, each cell of which can be worked out by hand from `drawn`."""
    grid, profile, entries, scores = drawn
    files = Drawn("evidence.csv", sweeps=("sweeps.png",))
    assert document(grid, profile, entries, scores, [], files) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("profile", "stem", "most_bytes"),
    [
        ("bed", "evidence", 15_000),
        # the two for reference, with every row and point of the papers
        pytest.param("tables", "evidence-tables", 25_000, marks=pytest.mark.slow),
        pytest.param("cpu", "evidence-cpu", 25_000, marks=pytest.mark.slow),
    ],
)
def test_the_shipped_document_is_what_the_shipped_results_give(tmp_path, profile, stem, most_bytes):
    """But for what is not done and why, which depends on the models that the machine has.

    The first is to be read in a minute, and no document grows without somebody seeing it.
    """
    folders = ["--runs", str(tmp_path), "--docs", str(tmp_path), "--data", str(tmp_path)]
    main(["draw", "--profile", profile, *folders])
    drawn, shipped = (
        (folder / f"{stem}.md").read_text(encoding="utf-8") for folder in (tmp_path, Path("docs"))
    )
    assert drawn.split("## Methods")[1] == shipped.split("## Methods")[1]
    assert drawn.split("Of ")[0] == shipped.split("Of ")[0]
    assert (tmp_path / f"{stem}.csv").read_bytes() == (Path("docs") / f"{stem}.csv").read_bytes()
    assert len(shipped.encode()) < most_bytes


def test_the_data_file_has_a_line_for_each_score(drawn, tmp_path):
    grid, _, _, scores = drawn
    write_csv(grid, scores, tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text("utf-8").splitlines()
    assert lines[0] == "row,seed,measure,points"
    assert {"no-training,,dev,60.0000", "simcse,0,average,55.0000", "simcse,42,agnews,70.0000"} <= set(lines)
    assert len(lines) == 1 + sum(len(m) for seeds in scores.values() for m in seeds.values())


def test_a_warning_names_averages_and_an_unlisted_row_is_in_no_table(drawn):
    grid, profile, entries, scores = drawn
    warning = "No training has {no-training}, UNA {augmented}, a translation {translated}."
    profile = dataclasses.replace(profile, warning=warning, unlisted=("augmented",))
    text, all_rows = (
        document(*of, [], Drawn("evidence.csv")) for of in ((grid, profile, entries, scores), drawn)
    )
    assert "\n\nNo training has 50.00, UNA 51.50, a translation –.\n" in text
    assert "| UNA, random | SimCSE | 1 |" not in text
    assert "| UNA, random | SimCSE | 1 |" in all_rows
    assert "Of 5 trainings" in text and "Of 7 trainings" in all_rows


def test_a_profile_that_decides_nothing_shows_the_primary_comparisons_without_a_verdict(drawn):
    grid, profile, entries, scores = drawn
    one = Primary("augmented", "simcse", "Does it help?", "the same but for the negatives", 1.0)
    grid = dataclasses.replace(grid, primary=(one,))
    found = findings(grid, scores)
    deciding, other = (
        document(grid, dataclasses.replace(profile, decides=decides), entries, scores, found, Drawn(""))
        for decides in (True, False)
    )
    assert "## Primary comparisons\n" in deciding and "p, Holm" in deciding
    assert "**Too few seeds to say**: UNA, random over SimCSE" in deciding
    assert "## The primary comparisons once more\n" in other and "p, Holm" not in other
    assert "**Too few seeds" not in other


def test_what_is_missing_is_named_with_the_command_that_runs_it_and_what_it_waits_for(drawn):
    grid, profile, entries, scores = drawn
    profile = dataclasses.replace(profile, waits_for="a larger machine")
    missing = [entry.unit.row.name for entry in entries if entry.state == "missing"]
    text = document(grid, profile, entries, scores, [], Drawn("evidence.csv"))
    command = f"make reproduce PROFILE=cpu ROW={','.join(dict.fromkeys(missing))}"
    assert missing and f"- missing, waiting for a larger machine: `{command}`\n" in text
    assert show(entries, 1, profile.waits_for).endswith("\nthe missing ones wait for a larger machine")
    finished = [entry for entry in entries if entry.state != "missing"]
    assert "- missing" not in document(grid, profile, finished, scores, [], Drawn("evidence.csv"))
    assert "wait for" not in show(finished, 1, profile.waits_for)


def test_each_row_says_its_difference_to_its_baseline_and_to_no_training(drawn):
    lines = document(*drawn, [], Drawn("evidence.csv")).splitlines()
    assert any(line.startswith("| UNA, random | SimCSE | 1 | 61.00 | 51.50 | -4.50 | +1.50 |")
               for line in lines)  # fmt: skip
    assert any(line.startswith("| no training |  | 1 | 60.00 | 50.00 |  |  |") for line in lines)


def test_scores_that_are_no_percentages_are_shown_as_they_are_and_only_main_ones_are_averaged(drawn):
    grid, profile, (entry, *_), _ = drawn
    result = dataclasses.replace(
        entry.results["sts"], scores={"geometry-nli": 94.7, "geometry-nli:svg_A_E": 0.87, "stsb": 0.5}
    )
    measures = scores_of(grid, profile, [dataclasses.replace(entry, results={"spaces": result})])
    (of_seed,) = measures[entry.unit.row.name].values()
    assert (of_seed["geometry-nli"], of_seed["geometry-nli:svg_A_E"]) == (94.7, 0.87)
    assert of_seed["spaces"] == (94.7 + 50) / 2


def test_a_point_that_is_the_row_itself_has_its_scores(drawn):
    scores = drawn[-1]
    assert scores["rate-3e-05"] == scores["simcse"]
    assert comparisons.values_of(scores, "rate-3e-05", "dev") == {42: 66.0, 0: 64.0}


def test_a_sweep_says_what_it_says_of_the_papers_best_value(small_grid):
    sweep = load_grid(small_grid).sweeps[0]
    assert sweep.reference == 3e-5  # 71 in the paper, 70 the other
    scores = {
        "rate-1e-05": {0: {"dev": 64.0}, 1: {"dev": 65.0}},
        "rate-3e-05": {0: {"dev": 66.0}, 1: {"dev": 66.0}},
    }
    # A mean difference of 1.5 varies by 0.71: 1.0 counts.
    start = "**learning rate** (3e-05 is the best in the paper; 2 seeds): 1e-05"
    assert sweeps.line(sweep, scores, 0.5) == f"{start} -1.50 ± 0.71*. Only two."
    assert sweeps.line(sweep, scores, 2.0) == f"{start} -1.50 ± 0.71. Only two."
    scores["rate-1e-05"] = {0: {"dev": 68.0}, 1: {"dev": 68.0}}
    assert sweeps.line(sweep, scores, 0.5) == f"{start} +2.00 ± 0.00†. Only two."
    without = dataclasses.replace(sweep, published=())
    assert without.reference == 3e-5  # the default
    assert dataclasses.replace(without, default=None).reference == 1e-5  # the first
    assert "3e-05 is compared with" in sweeps.line(without, scores, 0.5)
    assert "1e-05 +2.00 ± 0.00*." in sweeps.line(without, scores, 0.5)
    assert "1e-05 +2.00 ± 0.00†." in sweeps.line(dataclasses.replace(without, best=3e-5), scores, 0.5)


def test_points_trained_for_other_numbers_of_steps_are_not_judged(small_grid):
    sweep = load_grid(small_grid).sweeps[0]
    scores = {
        "rate-1e-05": {0: {"dev": 60.0, "steps": 1.0}},
        "rate-3e-05": {0: {"dev": 66.0, "steps": 80.0}},
    }
    said = sweeps.line(sweep, scores, 0.5)
    assert "(3e-05 is the best in the paper, 80 steps; 1 seed): 1e-05 -6.00 (1 step). Only" in said
    scores["rate-1e-05"][0]["steps"] = 79.0  # the last rows did not make a batch
    assert "(3e-05 is the best in the paper; 1 seed): 1e-05 -6.00*. Only" in sweeps.line(sweep, scores, 0.5)


def test_curves_need_two_points(drawn, tmp_path):
    grid, _, _, scores = drawn
    assert curves.draw_sweeps(grid, scores, tmp_path / "sweeps.png")
    assert (tmp_path / "sweeps.png").read_bytes()[:4] == b"\x89PNG"
    del scores["rate-1e-05"]
    assert not curves.draw_sweeps(grid, scores, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
