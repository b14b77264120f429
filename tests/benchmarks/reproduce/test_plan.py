"""What is planned, what names a training, and what a finished result is worth."""

import dataclasses

import pytest

from augment_cli import augmentations
from augment_cli.errors import UsageError
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.measure import DEV_ROWS, SCORED_ROWS, Pace
from benchmarks.reproduce.plan import bounds, make_plan, show
from benchmarks.reproduce.units import SCORED, TRAINING, Result, Results, make_unit, make_units

ENCODER = "e" * 64


class Stages:
    """A store with some stages; one more can be made, others cannot."""

    def __init__(self, digests):
        self.there = digests

    def has(self, name):
        return name in self.there

    def digests(self, names):
        return {name: self.there.get(name) for name in names}

    def rows(self):
        return 40

    def reason(self, name):
        return "" if name == "una-random" else f"no augmentation {name}"


@pytest.fixture
def grid(small_grid):
    return load_grid(small_grid)


@pytest.fixture
def profile(grid):
    return grid.profiles["small"]


def units_of(grid, profile, names=(), seeds=()):
    return make_units(grid, profile, grid.choose(profile, names), seeds, ENCODER)


def names(units):
    return [(unit.row.name, unit.seed) for unit in units]


@pytest.mark.parametrize("name", ["large-1", "una-table-1", "augcse-search"])
def test_every_row_of_the_shipped_grid_is_a_recipe_that_loads(name):
    grid = load_grid()
    units = units_of(grid, grid.profiles[name])
    assert len({(unit.start, unit.key) for unit in units}) == len(units)
    for unit in units:
        assert unit.recipe is None or unit.recipe.seed == unit.seed
        for stage in unit.stages[1:]:
            assert grid.stages.get(stage, ((stage,),))[-1][0] in augmentations.names()


def test_all_rows_with_the_first_seed_come_first_and_what_is_not_trained_comes_once(grid, profile):
    trained = ("simcse", "augmented", "translated")
    expected = [("no-training", 42), *((row, seed) for seed in (42, 0) for row in trained)]
    assert names(units_of(grid, profile)) == expected
    assert names(units_of(grid, profile, ["simcse"], [7, 8])) == [("simcse", 7), ("simcse", 8)]


def test_a_profile_may_be_like_another(grid, profile):
    other = grid.profiles["other"]
    assert (other.name, other.encoder) == ("other", "other")
    assert other.set == profile.set and other.seeds == profile.seeds
    with pytest.raises(UsageError, match="other has no row called augmented"):
        grid.choose(other, ["augmented"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title = ", "unheard = "),
        ('like = "small"', 'like = "nothing"'),
        ('only = ["no-training", "simcse"]', 'only = ["nothing"]'),
        ("{ augmented = [", "{ nothing = ["),
        ('worse = "simcse"', 'worse = "nothing"'),
        ("published = 2.0", 'on = ["nothing", "nothing"]'),
    ],
)
def test_a_grid_that_names_what_is_not_there_is_refused(small_grid, tmp_path, old, new):
    text, path = small_grid.read_text(encoding="utf-8"), tmp_path / "grid.toml"
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=r"nothing|unheard"):
        load_grid(path)


def key(grid, profile, seed=42, encoder=ENCODER, **changes):
    return make_unit(profile, dataclasses.replace(grid.rows["simcse"], **changes), seed, encoder).key


def test_the_key_changes_with_whatever_changes_the_numbers_and_with_nothing_else(grid, profile):
    first = key(grid, profile)
    keys = [
        first,
        key(grid, profile, seed=0),
        key(grid, profile, encoder="f" * 64),
        key(grid, profile, set=("temperature=0.1",)),
        key(grid, profile, set=("repetition.rate=0.32",)),
        key(grid, dataclasses.replace(profile, score_precision="bf16")),
        key(grid, dataclasses.replace(profile, of_row={"simcse": ("epochs=2",)})),
    ]
    assert len(set(keys)) == len(keys)
    assert key(grid, profile, set=("threads=2", "log_every=1", "keep=5")) == first
    assert key(grid, profile, title="other", name="other") == first


def finish(results, unit, data, evaluations=None, **scores):
    for evaluation in evaluations or unit.evaluations:
        results.write(
            Result(unit.row.name, unit.seed, evaluation, unit.key, data, {"seconds": 30.0} | scores, {})
        )


def test_what_is_done_is_not_planned_again(grid, profile, tmp_path):
    results, stages = Results(tmp_path / "small.jsonl"), Stages({"corpus": "c"})
    units = units_of(grid, profile, ["simcse", "augmented", "translated"], [42])
    simcse, augmented, _ = units
    finish(results, simcse, {"corpus": "c"}, [TRAINING])
    plan = make_plan(units, Results(results.path), stages)
    assert [entry.state for entry in plan] == ["missing", "missing", "skipped"]
    assert [entry.missing for entry in plan] == [(SCORED,), (TRAINING, SCORED), ()]
    assert plan[1].to_make == ("una-random",)
    assert "no augmentation nothing-makes-this" in plan[2].reason
    assert "0 done, 2 missing, 1 skipped" in show(plan)
    assert "the missing ones wait for a GPU" in show(plan, waits_for="a GPU")

    finish(results, simcse, {"corpus": "c"})
    finish(results, augmented, {"corpus": "c", "una-random": "u"})
    plan = make_plan(units, Results(results.path), stages)
    assert [entry.state for entry in plan] == ["done", "done", "skipped"]


def test_a_result_counts_only_for_the_stages_it_came_from(grid, profile, tmp_path):
    results = Results(tmp_path / "small.jsonl")
    (unit,) = units_of(grid, profile, ["augmented"], [42])
    finish(results, unit, {"corpus": "c", "una-random": "u"})

    def state(**digests):
        stages = Stages({name.replace("_", "-"): digest for name, digest in digests.items()})
        return make_plan([unit], results, stages)[0].state

    assert state(corpus="c", una_random="u") == "done"
    assert state() == "done"  # nothing made here contradicts it
    assert state(corpus="c", una_random="other") == "missing"
    assert state(corpus="other") == "missing"


def test_a_failed_training_is_not_tried_again_and_says_why(grid, profile, tmp_path):
    results = Results(tmp_path / "small.jsonl")
    (unit,) = units_of(grid, profile, ["simcse"], [42])
    finish(results, unit, {"corpus": "c"}, [TRAINING], failed="step 3: the loss is nan")
    (entry,) = make_plan([unit], results, Stages({"corpus": "c"}))
    assert (entry.state, entry.reason, entry.missing) == ("failed", "step 3: the loss is nan", ())


def test_the_estimate_comes_from_what_was_measured(grid, profile, tmp_path):
    """On the row's other seeds, else by some steps on this machine, else of any row."""
    results, stages = Results(tmp_path / "small.jsonl"), Stages({"corpus": "c"})
    units = units_of(grid, profile, ["simcse", "augmented"])
    assert [entry.seconds for entry in make_plan(units, results, stages)] == [0.0] * 4
    assert "that `make reproduce-plan` measures" in show(make_plan(units, results, stages))
    finish(results, units[0], {"corpus": "c"})
    assert [entry.seconds for entry in make_plan(units, results, stages)] == [0.0, 60.0, 60.0, 60.0]
    plan = make_plan(units, results, stages, Measured())
    assert [entry.seconds for entry in plan] == [0.0, 47.0, 60.0, 47.0]


class Measured:
    """Seconds of training and of scoring, in the place of some steps."""

    def seconds(self, unit, rows):
        assert rows == 40
        return 40.0, 7.0


def test_some_steps_of_a_rows_own_recipe_are_measured_once_for_each_kind(grid, profile, tiny_encoder):
    profile = dataclasses.replace(profile, encoder=str(tiny_encoder), set=("batch=64", "threads=1"))
    rows = grid.choose(profile, ["simcse", "augmented"])
    units, pace = make_units(grid, profile, rows), Pace()
    training, scoring = pace.seconds(units[0], 6_400)
    # A hundred steps of 64 rows, and the dev set before and after; the test sets.
    assert training == pytest.approx((6_400 + 2 * DEV_ROWS) / pace(units[0]))
    assert scoring == pytest.approx(SCORED_ROWS / pace(units[0]))
    assert [pace(unit) for unit in units] == [pace(unit) for unit in units]
    assert len(pace._known) == 2


def test_a_repetition_may_lie_two_deviations_from_the_recorded_seeds():
    assert bounds([60.0, 61.0, 62.0]) == pytest.approx((58.995, 63.005))
    assert bounds([60.0]) == pytest.approx((58.395, 61.605))
    assert bounds([60.0], has_seed=False) == pytest.approx((59.945, 60.055))
