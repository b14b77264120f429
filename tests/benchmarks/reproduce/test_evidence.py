"""Differences, noise and verdicts, and the document that says them."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.command import main
from benchmarks.reproduce.comparisons import difference, shared
from benchmarks.reproduce.document import curves, opening, sweeps
from benchmarks.reproduce.document.neighbours import draw_neighbours
from benchmarks.reproduce.document.primary import findings
from benchmarks.reproduce.document.scores import scores_of, write_csv
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.evidence import Drawn, document
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.paired import interval
from benchmarks.reproduce.plan import Entry, show
from benchmarks.reproduce.results import TRAINING, Result
from benchmarks.reproduce.units import make_units
from tests.helpers.places import REPOSITORY

RESULTS = REPOSITORY / "benchmarks/results"
GOLDEN = Path(__file__).parent / "golden" / "evidence.md"
points = st.floats(0, 100)


def table(**rows):
    return {row: {seed: {"dev": value} for seed, value in enumerate(values)} for row, values in rows.items()}


def test_a_difference_is_taken_seed_by_seed():
    scores = {
        "a": {0: {"dev": 3.0}, 1: {"dev": 5.0}, 2: {"dev": 9.0}},
        "b": {1: {"dev": 4.0}, 0: {"dev": 1.0}},
    }
    assert difference(scores, "a", "b", "dev") == interval([2.0, 1.0])
    assert difference(scores, "a", "c", "dev") is None
    assert difference(scores, "a", "b", "average") is None


def test_a_row_without_seeds_stands_beside_each_seed():
    scores = {"a": {0: {"dev": 3.0}, 1: {"dev": 5.0}}, "none": {42: {"dev": 1.0}}}
    found = difference(scores, "a", "none", "dev", frozenset({"none"}))
    assert found == interval([2.0, 4.0])
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


@pytest.fixture
def drawn(small_grid):
    """The small grid with made-up results: one row whole, one with a seed, one that cannot be made."""
    grid = load_grid(small_grid)
    profile = grid.profiles["cpu"]
    numbers = {
        ("no-training", 42): (0.60, 0.50),
        ("simcse", 42): (0.66, 0.56),
        ("simcse", 0): (0.64, 0.55),
        ("augmented", 42): (0.61, 0.515),
        ("rate-1e-05", 42): (0.65, 0.555),
    }
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
        pytest.param("bed", "evidence", 15_000, marks=pytest.mark.slow),
        pytest.param("fresh", "evidence-fresh", 15_000, marks=pytest.mark.slow),
        pytest.param("singles", "evidence-singles", 15_000, marks=pytest.mark.slow),
        # the two for reference, with every row and point of the papers
        pytest.param("tables", "evidence-tables", 30_000, marks=pytest.mark.slow),
        pytest.param("cpu", "evidence-cpu", 25_000, marks=pytest.mark.slow),
    ],
)
def test_the_shipped_document_is_what_the_shipped_results_give(tmp_path, profile, stem, most_bytes):
    """But for what is not done and why, which depends on the models that the machine has.

    The first is to be read in a minute, and no document grows without somebody seeing it.
    """
    folders = ["--runs", str(tmp_path), "--pages", str(tmp_path), "--data", str(tmp_path)]
    main(["draw", "--profile", profile, *folders])
    drawn, shipped = ((folder / f"{stem}.md").read_text(encoding="utf-8") for folder in (tmp_path, RESULTS))
    state = re.compile(r"\nOf \d+ rows, each counted once a seed, .*?(?=\n## )", re.S)
    assert state.sub("", drawn) == state.sub("", shipped) != shipped
    assert (tmp_path / f"{stem}.csv").read_bytes() == (RESULTS / f"{stem}.csv").read_bytes()
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
    assert "Of 5 rows," in text and "Of 7 rows," in all_rows


def test_a_row_whose_baseline_the_profile_leaves_out_is_no_conclusion(drawn):
    grid, profile, entries, scores = drawn
    grid = grid.of_profile(dataclasses.replace(profile, only=("no-training", "augmented"), scored={}))
    kept = [entry for entry in entries if entry.unit.row.name in ("no-training", "augmented")]
    text = document(grid, profile, kept, scores, [], Drawn(""))
    assert "| UNA, random > no training |" in text and "SimCSE" not in text.split("## The papers")[1]


def test_one_pair_has_one_verdict(drawn):
    """A conclusion that is a primary comparison has the verdict of the corrected test."""
    grid, profile, entries, _ = drawn
    one = Primary("augmented", "simcse", "Does it help?", "same loss and rows", 1.0, "one seed")
    grid = dataclasses.replace(grid, primary=(one,), claims=())
    better, worse = [61.0, 61.4, 61.3], [60.0, 60.3, 60.1]
    of = {
        row: {seed: {"average": value} for seed, value in enumerate(values)}
        for row, values in (("augmented", better), ("simcse", worse))
    }
    found = findings(grid, of)
    corrected = [dataclasses.replace(found[0], adjusted=0.2)]
    for said, given_ in (("holds", found), ("not significant", corrected)):
        text = document(grid, profile, entries, of, given_, Drawn(""))
        assert text.count(f"| {said} |") == 2  # in both tables
    assert "- UNA, random – SimCSE: Same loss and rows. Paper: one seed.\n" in text


def test_what_training_did_is_said_where_the_start_is_the_best(drawn):
    grid, profile, entries, scores = drawn
    scores["augmented"][42] |= {"last": 55.0, "discriminator_accuracy": 31.4}
    text = document(grid, profile, entries, scores, [], Drawn(""))
    start = "the best checkpoint is the start: training ended at 55.00 on STS-B dev"
    assert f"{start}; its discriminator names what was done to 31 % of the last logged rows." in text


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
    assert any(
        line.startswith("| UNA, random | SimCSE | 1 | 61.00 | 51.50 | -4.50 | +1.50 |") for line in lines
    )
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
    start = "**learning rate** (3e-05 is the best in the paper; {} seeds): 1e-05 "
    assert sweeps.line(sweep, scores) == f"{start.format(2)}-1.50 ± 0.71. Only two."  # two say nothing
    for row, third in (("rate-1e-05", 64.5), ("rate-3e-05", 66.0)):
        scores[row][2] = {"dev": third}
    assert sweeps.line(sweep, scores) == f"{start.format(3)}-1.50 ± 0.50*. Only two."
    scores["rate-1e-05"] = {seed: {"dev": 67.5} for seed in range(3)}
    assert sweeps.line(sweep, scores) == f"{start.format(3)}+1.50 ± 0.00†. Only two."
    scores["rate-1e-05"][0]["dev"] = 61.5
    assert sweeps.line(sweep, scores) == f"{start.format(3)}-0.50 ± 3.46. Only two."  # noise
    scores["rate-1e-05"][0]["dev"] = 67.5
    without = dataclasses.replace(sweep, published=())
    assert without.reference == 3e-5  # the default
    assert dataclasses.replace(without, default=None).reference == 1e-5  # the first
    assert "3e-05 is compared with" in sweeps.line(without, scores)
    assert "1e-05 +1.50 ± 0.00*." in sweeps.line(without, scores)
    assert "1e-05 +1.50 ± 0.00†." in sweeps.line(dataclasses.replace(without, best=3e-5), scores)


def test_points_trained_for_other_numbers_of_steps_are_not_judged(small_grid):
    sweep = load_grid(small_grid).sweeps[0]
    scores = {
        "rate-1e-05": {seed: {"dev": 60.0, "steps": 1.0} for seed in range(3)},
        "rate-3e-05": {seed: {"dev": 66.0, "steps": 80.0} for seed in range(3)},
    }
    said = sweeps.line(sweep, scores)
    assert "(3e-05 is the best in the paper, 80 steps; 3 seeds): 1e-05 -6.00 ± 0.00 (1 step). Only" in said
    for measures in scores["rate-1e-05"].values():
        measures["steps"] = 79.0  # the last rows did not make a batch
    assert "(3e-05 is the best in the paper; 3 seeds): 1e-05 -6.00 ± 0.00*. Only" in sweeps.line(
        sweep, scores
    )


def test_the_order_of_many_points_is_compared_with_the_papers(small_grid):
    values = tuple(range(10))
    published = tuple(float(value) for value in values)
    sweep = dataclasses.replace(load_grid(small_grid).sweeps[0], values=values, published=published, note="")
    scores = {f"rate-{value}": {0: {"dev": 50.0 + value, "steps": 80.0}} for value in values}
    assert sweeps.line(sweep, scores).endswith(
        "Spearman's ρ of where training ended with the paper's order: +1.00."
    )
    del scores["rate-4"][0]["dev"]  # trained and not scored yet
    assert sweeps.line(sweep, scores).endswith(
        " Spearman's ρ of where training ended with the paper's order: +1.00. Missing: 4."
    )
    for value in values[:3]:  # too few are left that were trained alike
        scores[f"rate-{value}"][0]["steps"] = 2.0
    assert "Spearman" not in sweeps.line(sweep, scores)


def test_it_is_counted_how_often_the_papers_best_value_is_the_best_here(small_grid):
    grid = load_grid(small_grid)
    sweep = dataclasses.replace(grid.sweeps[0], values=(1, 2, 3, 4), published=(1.0, 4.0, 2.0, 3.0))
    scores = {
        f"rate-{value}": {0: {"dev": dev, "steps": steps}}
        for value, dev, steps in ((1, 50.0, 80.0), (2, 60.0, 80.0), (3, 55.0, 80.0), (4, 70.0, 5.0))
    }
    assert sweeps.agrees_on_best(sweep, scores) is True  # the fourth was trained for five steps alone
    scores["rate-4"][0]["steps"] = 80.0
    assert sweeps.agrees_on_best(sweep, scores) is False
    assert sweeps.agrees_on_best(dataclasses.replace(sweep, published=()), scores) is None  # none is named
    three = dataclasses.replace(grid, sweeps=(sweep, *(dataclasses.replace(sweep, title=t) for t in "ab")))
    told = "\n".join(opening.lines(three, [], scores, [], []))
    assert "**Sweeps**: of 3 whose best value a paper names, none have it here too." in told
    assert "Sweeps" not in "\n".join(opening.lines(grid, [], scores, [], []))


def test_curves_need_two_points(drawn, tmp_path):
    grid, _, _, scores = drawn
    assert curves.draw_sweeps(grid, scores, tmp_path / "sweeps.png")
    assert (tmp_path / "sweeps.png").read_bytes()[:4] == b"\x89PNG"
    del scores["rate-1e-05"]
    assert not curves.draw_sweeps(grid, scores, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_a_row_that_is_the_start_is_not_taken_for_a_training(drawn):
    grid, profile, entries, scores = drawn
    scores["augmented"][42] |= {"last": 55.0}
    scores["rate-1e-05"][42] |= {"last": 54.0}
    text = document(grid, profile, entries, scores, [], Drawn(""))
    assert "| UNA, random > SimCSE | -3.00 | -4.50 (1) | start not beaten |" in text
    assert "1e-05 -1.00 (start; ended at 54.0)." in text
    scores["augmented"][7] = scores["augmented"][42] | {"dev": 62.0}
    del scores["augmented"][7]["last"]  # with another seed training helped
    assert "start not beaten |" not in document(grid, profile, entries, scores, [], Drawn(""))


def test_neighbourhoods_are_drawn_where_all_their_numbers_are_there(drawn, tmp_path):
    grid, profile, entries, scores = drawn
    picture = tmp_path / "neighbours.png"
    scores["simcse"][42] |= {"purity": 60.0, "purity:purity_1": 70.0, "purity:purity_100": 50.0}
    assert not draw_neighbours(grid.rows, scores, picture)
    scores["simcse"][42] |= {f"purity:distance_{count}": 10.0 * count for count in (1, 10, 100)}
    assert draw_neighbours(grid.rows, scores, picture) and picture.read_bytes().startswith(b"\x89PNG")
    text = document(grid, profile, entries, scores, [], Drawn("", neighbours="neighbours.png"))
    assert "(neighbours.png)" in text
