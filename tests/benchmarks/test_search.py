"""The search for a recipe of our own: its log is whole, and what is tried can be trained."""

import json

import pytest

from benchmarks.reproduce.entries import Row
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.units import make_unit
from benchmarks.search import search
from benchmarks.search.ablation import ablation_table, lead_table, read_points
from tests.helpers.places import REPOSITORY
from train.loading import load_recipe


@pytest.fixture(scope="module")
def grid():
    grid = load_grid()
    return grid.of_profile(grid.profiles[search.PROFILE])


@pytest.fixture(scope="module")
def trials():
    return search.read_trials(search.TRIALS)[0]


def unit_of(grid, trial):
    row = Row(trial.name, trial.why, trial.recipe, set=trial.set)
    return make_unit(grid, grid.profiles[search.PROFILE], row, trial.seeds[0], "digest")


def test_each_trial_is_a_recipe_that_the_trainer_takes(grid, trials):
    units = [unit_of(grid, trial) for trial in trials]
    assert all(unit.recipe is not None and unit.recipe.seed == 42 for unit in units)
    assert len({unit.key for unit in units}) == len(units)  # nothing is tried twice


def test_the_log_has_every_attempt_once_as_it_was_asked_for(trials):
    log = search.read_log(search.LOG)
    assert len({line["key"] for line in log}) == len(log)
    asked = {trial.name: trial for trial in trials}
    for line in log:
        trial = asked[line["trial"]]
        assert (line["recipe"], tuple(line["set"])) == (trial.recipe, trial.set)


def test_the_winning_trial_is_the_recipe_that_ships(grid, trials):
    winner = next(trial for trial in trials if trial.name == "winner, columns")
    tried, ships = unit_of(grid, winner).recipe, load_recipe("uda-una")
    same = ("loss", "head", "pooling", "alpha", "batch", "learning_rate", "optimizer")
    assert {name: getattr(tried, name) for name in same} == {name: getattr(ships, name) for name in same}


def test_show_lists_the_best_first_and_means_over_seeds_one_bed_at_a_time(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    common = {"recipe": "simcse", "set": ["batch=32"]}
    lines = [
        {"trial": "one", "seed": 42, "key": "a", "encoder": "bed", "dev": 0.7} | common,
        {"trial": "two", "seed": 42, "key": "b", "encoder": "bed", "dev": 0.8} | common,
        {"trial": "two", "seed": 42, "key": "d", "encoder": "another", "dev": 0.9} | common,
        {"trial": "two", "seed": 0, "key": "c", "encoder": "bed", "dev": 0.81} | common,
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    search.main(["show", "--log", str(log)])
    bed, first, second, other, third = capsys.readouterr().out.splitlines()
    assert (bed, other) == ("from the encoder bed", "from the encoder another")
    assert first.split()[:5] == ["80.50", "±", "0.71", "(2)", "two"]
    assert second.split()[:3] == ["70.00", "(1)", "one"]
    assert third.split()[:3] == ["90.00", "(1)", "two"]


def write_scores(path, given):
    lines = ["row,seed,measure,points"]
    for row, averages in given.items():
        trained = row != "word-table-idf"
        for seed, average in enumerate(averages):
            lines += [f"{row},{seed if trained else ''},average,{average}"]
            lines += [f"{row},{seed},cpu,40.4"] * trained
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_points(path)


def test_the_ablation_compares_seed_by_seed_within_each_bed(tmp_path):
    first = write_scores(
        tmp_path / "a.csv", {"best": (70.0, 72.0), "best-self": (69.0, 70.0), "word-table-idf": (68.0,)}
    )
    whole, without, table = ablation_table(load_grid(), [first]).splitlines()[2:]
    assert whole == "| recipe of our own | 2 | – | 71.00 | – | 40 |"
    # Leads of 1 and 2: 1.5 ± 12.71 · 0.7071 / √2.
    assert "| 2 | – | 69.50 | +1.50 (−4.85 to +7.85) | 40 |" in without
    assert table == "| word table, idf weights | – | – | 68.00 | +3.00 (−9.71 to +15.71) | – |"

    second = write_scores(tmp_path / "b.csv", {"best": (60.0, 61.0), "best-self": (57.0,)})
    whole, without, table = ablation_table(load_grid(), [first, second]).splitlines()[2:]
    assert whole == "| recipe of our own | 2 + 2 | – | 71.00 | – | 40 |"
    # Leads of 1, 2 and 3, the last on the other bed: 2 ± 4.303 · 1 / √3.
    assert "| 2 + 1 | – | 69.50 | +2.00 (−0.48 to +4.48) | 40 |" in without
    assert "+3.00 (−9.71 to +15.71)" in table


def test_the_page_shows_the_ablation_that_was_measured():
    scores = (REPOSITORY / "benchmarks/results/evidence.csv", search.SECOND_BED)
    table = ablation_table(load_grid(), [read_points(path) for path in scores])
    page = (REPOSITORY / "benchmarks/results/best.md").read_text("utf-8")
    assert table in page
    leads = lead_table(load_grid(), search.RESULTS)
    assert leads in page and "| SimCSE, symmetric |" in leads and "| AugCSE |" in leads
