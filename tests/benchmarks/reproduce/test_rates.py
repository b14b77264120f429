"""Each method at its own learning rate: dev pairs of no test set, points of several rows, what is chosen."""

import csv
import dataclasses
import gzip
from collections import Counter

import numpy as np
import pytest

from augment_cli.errors import UsageError
from benchmarks.reproduce import draws, front_page
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.rates import (
    DEV,
    OWN,
    at_own_rates,
    chosen_rates,
    dev_scores,
    own_pairs,
    skipped_rows,
)
from benchmarks.reproduce.results import Result, Results
from benchmarks.reproduce.units import make_units
from benchmarks.reproduce.work import _own, _tables
from eval.tasks.pairs import Pairs, pairs_of
from eval.tasks.registry import load_registry
from eval.tasks.table import Table
from tests.helpers.places import REPOSITORY

pytestmark = pytest.mark.usefixtures("known_encoder")

MORE = """
[profile.rates]
like = "cpu"
seeds = [1, 2]
sweep_seeds = 2
only = ["tuned"]

[profile.draw]
like = "rates"
seeds = [7]
rates_from = "rates"
only = ["no-training", "simcse", "augmented"]

[[sweep]]
name = "tuned"
title = "learning rate"
profiles = ["rates"]
rows = ["simcse", "augmented"]
set = ["learning_rate={value}"]
values = [1e-5, 2e-5]
"""


@pytest.fixture
def grid(small_grid, tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(small_grid.read_text("utf-8") + MORE, "utf-8")
    return load_grid(path)


@pytest.fixture
def results(grid, tmp_path):
    """What a run of the profile would leave: `simcse` is best at 2e-5, `augmented` at 1e-5."""
    written = Results(tmp_path / "rates.jsonl")
    profile = grid.profiles["rates"]
    own = grid.of_profile(profile)
    for unit in make_units(own, profile, own.rows, encoder="0" * 64):
        better = unit.row.value == (2e-5 if unit.row.sweep == "tuned:simcse" else 1e-5)
        scores = {OWN: 0.5 + 0.1 * better + 0.01 * unit.seed}
        written.write(
            Result(unit.row.name, unit.seed, "sts", unit.key, dict.fromkeys(unit.stages, "x"), scores, {})
        )
    return written


def test_a_sweep_of_several_rows_is_one_of_each_with_the_seeds_that_the_profile_says(grid):
    profile = grid.profiles["rates"]
    own = grid.of_profile(profile)
    units = make_units(own, profile, own.rows)
    assert {(unit.row.sweep, unit.row.value, unit.seed) for unit in units} == {
        (f"tuned:{row}", rate, seed)
        for row in ("simcse", "augmented")
        for rate in (1e-5, 2e-5)
        for seed in (1, 2)
    }
    assert {unit.recipe.learning_rate for unit in units} == {1e-5, 2e-5}
    draw = grid.profiles["draw"]
    assert grid.names(draw) == ["draw", "rates", "cpu"] and draw.set == grid.profiles["cpu"].set
    assert not any(row.sweep for row in grid.of_profile(draw).rows)


def test_each_row_gets_the_rate_with_the_highest_dev_score_over_all_seeds(grid, results):
    scores = dev_scores(grid, grid.profiles["rates"], results)
    assert scores["simcse"] == {1e-5: [0.51, 0.52], 2e-5: [0.61, 0.62]}
    assert chosen_rates(scores, 2) == {"simcse": 2e-5, "augmented": 1e-5}
    assert chosen_rates({"tie": {2e-5: [0.5], 1e-5: [0.5]}}, 1) == {"tie": 1e-5}
    profile = at_own_rates(grid, grid.profiles["draw"], results)
    own = grid.of_profile(profile)
    rates = {
        unit.row.name: unit.recipe.learning_rate for unit in make_units(own, profile, own.rows) if unit.recipe
    }
    assert rates == {"simcse": 2e-5, "augmented": 1e-5}


def test_a_rate_that_is_not_chosen_yet_is_refused_with_the_command(grid, results):
    lines = results.path.read_text("utf-8").splitlines(keepends=True)
    results.path.write_text(
        "".join(line for line in lines if '"augmented' not in line and "tuned:augm" not in line)
    )
    results.read()
    with pytest.raises(
        UsageError, match=r"rate of augmented is not chosen yet; make reproduce PROFILE=rates"
    ):
        at_own_rates(grid, grid.profiles["draw"], results)


def test_a_row_that_cannot_be_made_here_is_left_out_unless_its_rate_is_chosen(grid, results, tmp_path):
    class Lacking:
        """A machine that makes `una` and nothing else; the store holds nothing."""

        def has(self, name):
            return False

        def reason(self, name):
            return "" if name == "una" else f"{name} lacks a package"

    draw = grid.profiles["draw"]
    skipped = skipped_rows(grid, draw, Lacking())
    assert skipped == {"augmented": "una-random lacks a package"}
    with_rate = at_own_rates(grid, draw, results, skipped)
    assert with_rate.left_out == draw.left_out and set(with_rate.of_row) == {"simcse", "augmented"}
    without = Results(tmp_path / "fewer.jsonl")
    lines = results.path.read_text("utf-8").splitlines(keepends=True)
    without.path.write_text("".join(line for line in lines if "augmented" not in line))
    without.read()
    profile = at_own_rates(grid, draw, without, skipped)
    assert set(profile.of_row) == {"simcse"}
    assert {row.name for row in grid.of_profile(profile).rows} == {"no-training", "simcse"}


def test_own_pairs_are_those_of_no_test_set_whatever_order_case_and_marks():
    task = dataclasses.replace(load_registry()["stsb"], subset_column="", subsets={})
    columns = {"split": ["test"], "sentence1": ["A cat sat ."], "sentence2": ["It rains!"], "score": ["3"]}
    dev = Pairs(
        ["it rains", "A cat", "a cat sat"], ["A cat sat.", "It rains!", "a cat sat"], np.zeros(3), ["all"] * 3
    )
    assert own_pairs(dev, [Table(task, columns, "", True)]).tolist() == [False, True, True]


def test_so_many_dev_pairs_choose_the_rates(data_folder):
    assert int(_own(data_folder).sum()) == front_page.DEV_PAIRS


def test_so_many_test_pairs_are_dev_pairs(data_folder):
    (dev,), tests = _tables((DEV,), data_folder), _tables(draws.SETS, data_folder)
    seen = [~own_pairs(pairs_of(one), [dev]) for one in tests]
    page = (REPOSITORY / "benchmarks/results/results.md").read_text("utf-8")
    assert f"{sum(map(np.sum, seen)):,} of {sum(map(len, seen)):,} test pairs" in page


def test_the_pairs_that_score_overlap_as_the_page_of_the_bed_says(data_folder):
    def rows(name, split=""):
        with gzip.open(data_folder / "sts" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            found = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            return [row for row in found if row["split"] == split or not split]

    def both(row):
        texts = (row[name].casefold() for name in ("sentence1", "sentence2"))
        return tuple(sorted("".join(filter(str.isalnum, text)) for text in texts))

    page = " ".join((REPOSITORY / "benchmarks/results/bed.md").read_text("utf-8").split())
    older = [both(row) for name in ("sts12", "sts13", "sts14", "sts15") for row in rows(name)]
    test = [both(row) for row in rows("stsb", "test")]
    tested = {*older, *test}
    own = [row for row in rows("stsb", "dev") if both(row) not in tested]
    genres, years = (Counter(row[name] for row in own) for name in ("genre", "year"))
    said = f"are {genres['main-captions']} of captions and {genres['main-news']} of news"
    assert f"The {len(own)} pairs of STS-B dev that choose the rates {said}, {years['2017']} of them" in page
    sick = [both(row) for row in rows("sick", "train")]
    texts = {text for pair in tested for text in pair}
    assert f"A fifth of SICK's {len(sick):,} training pairs share a sentence with a test set" in page
    assert sum(not texts.isdisjoint(pair) for pair in sick) / len(sick) == pytest.approx(0.2, abs=0.02)
    assert "half of the STS-B test pairs are in STS12 to STS15" in page
    assert sum(map({*older}.__contains__, test)) / len(test) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(("name", "count"), [("rates", 5), ("rates-upper", 3), ("rates-small", 3)])
def test_the_grid_has_the_experiment_that_was_registered(name, count):
    """Seeds of rates and draws are used once; every trained row has its rate chosen, on one bed."""
    grid = load_grid()
    rates = grid.profiles[name]
    of_size = draws.draws_of(grid, name, rates.rows)
    assert len(of_size) == count
    corpora = [profile.corpus for profile in (*of_size, rates, grid.profiles["bed"])]
    assert len({*corpora}) == len(corpora)
    seeds = [seed for profile in (*of_size, rates) for seed in profile.seeds]
    assert len({*seeds}) == len(seeds) == count + rates.sweep_seeds
    swept = {sweep.row for sweep in grid.of_profile(rates).sweeps if sweep.name.startswith("rate:")}
    chosen = {row.sweep.partition(":")[2] for row in grid.of_profile(rates).rows}
    assert chosen == swept if name == "rates" else chosen < swept
    for profile in of_size:
        assert {row.name for row in grid.of_profile(profile).rows if row.recipe} == chosen
        assert profile.encoder == rates.encoder
        assert dataclasses.replace(grid.beds[profile.name], name="", like="") == dataclasses.replace(
            grid.beds[name], name="", like=""
        )
        assert not profile.decides
    assert (grid.beds[name].digest == grid.beds["tables"].digest) == (name == "rates")
