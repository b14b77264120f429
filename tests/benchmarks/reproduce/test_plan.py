"""What is planned, what names a training, and what a finished result is worth."""

import dataclasses
import json

import pytest

from augment_cli import augmentations
from augment_cli.errors import UsageError
from benchmarks.reproduce.command import main
from benchmarks.reproduce.grid import GRID, load_grid
from benchmarks.reproduce.plan import make_plan, phases, show
from benchmarks.reproduce.results import TRAINING, Result, Results
from benchmarks.reproduce.units import encoder_digest, make_unit, make_units

ENCODER = "e" * 64


class Stages:
    """A store with the corpus alone; one stage can be made, another cannot."""

    def __init__(self, digests):
        self.there = digests

    def has(self, name):
        return name in self.there

    def digests(self, names):
        return {name: self.there.get(name) for name in names}

    def reason(self, name):
        return "" if name == "una-random" else f"no augmentation {name}"


@pytest.fixture
def grid(small_grid):
    return load_grid(small_grid)


@pytest.fixture
def profile(grid):
    return grid.profiles["cpu"]


def names(units):
    return [(unit.row.name, unit.seed) for unit in units]


@pytest.mark.parametrize(
    "profile",
    ["cpu", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bed", "tables", "gpu", "paper"))],
)
def test_every_row_of_the_shipped_grid_is_a_recipe_that_loads(profile):
    grid = load_grid()
    grid = grid.of_profile(grid.profiles[profile])
    units = make_units(grid, grid.profiles[profile], grid.rows, encoder=ENCODER)
    assert len({unit.key for unit in units}) == len(units)
    for unit in units:
        assert unit.recipe is None or unit.recipe.seed == (unit.seed if unit.row.has_seed else 0)
        for stage in unit.stages[1:]:
            assert grid.stages.get(stage, ((stage,),))[-1][0] in augmentations.names()


def test_the_paper_profile_leaves_batches_and_rates_as_the_papers_have_them():
    grid = load_grid()
    vascl = make_unit(grid, grid.profiles["paper"], grid.row("vascl"), 42, ENCODER).recipe
    assert (vascl.batch, vascl.epochs, vascl.learning_rate, vascl.pooling) == (1024, 5, 5e-6, "mean")
    una = make_unit(grid, grid.profiles["paper"], grid.row("una"), 42, ENCODER).recipe
    assert (una.batch, una.learning_rate, una.pooling, una.max_length) == (64, 3e-5, "cls", 32)


def test_order_is_first_rows_then_the_others_then_sweeps_each_seed_by_seed(grid, profile):
    assert names(make_units(grid, profile, grid.rows, encoder=ENCODER)) == [
        ("no-training", 42),
        ("simcse", 42),
        ("simcse", 0),
        ("augmented", 42),
        ("translated", 42),
        ("augmented", 0),
        ("translated", 0),
        ("rate-1e-05", 42),
    ]


def test_a_sweep_has_more_seeds_only_if_asked(grid, profile):
    chosen = grid.choose(["rate"])
    assert names(make_units(grid, profile, chosen, [7, 8], ENCODER)) == [
        ("rate-1e-05", 7),
        ("rate-3e-05", 7),
        ("rate-1e-05", 8),
        ("rate-3e-05", 8),
    ]


def test_single_rows_may_have_seeds_of_their_own(grid, profile):
    own = dataclasses.replace(profile, seeds_of={"augmented": [7]})
    chosen = grid.choose(["augmented", "simcse"])
    assert names(make_units(grid, own, chosen, encoder=ENCODER)) == [
        ("simcse", 42),
        ("simcse", 0),
        ("augmented", 7),
    ]
    assert names(make_units(grid, own, grid.choose(["augmented"]), [1], ENCODER)) == [("augmented", 1)]


def test_an_unknown_row_is_named(grid):
    with pytest.raises(UsageError, match=r"'unna'.*augmented"):
        grid.choose(["unna"])


def test_a_grid_with_an_unknown_key_is_refused(small_grid, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(small_grid.read_text().replace("baseline = ", "base = ", 1))
    with pytest.raises(UsageError, match="base"):
        load_grid(wrong)


def key(grid, profile, seed=42, encoder=ENCODER, **changes):
    row = dataclasses.replace(grid.row("simcse"), **changes)
    return make_unit(grid, profile, row, seed, encoder).key


def test_the_key_changes_with_whatever_changes_the_numbers(grid, profile):
    keys = [
        key(grid, profile),
        key(grid, profile, seed=0),
        key(grid, profile, encoder="f" * 64),
        key(grid, profile, set=("temperature=0.1",)),
        key(grid, profile, set=("repetition.rate=0.32",)),
        key(grid, profile, output="last"),
        key(grid, dataclasses.replace(profile, score_precision="bf16")),
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_does_not_change_with_what_changes_no_number(grid, profile):
    same = key(grid, profile)
    assert key(grid, profile, set=("threads=2", "log_every=1", "keep=5")) == same
    assert key(grid, profile, title="other", name="other", note="other") == same


def finish(results, unit, data, evaluations=None, **scores):
    for evaluation in evaluations or unit.evaluations:
        results.write(
            Result(unit.row.name, unit.seed, evaluation, unit.key, data, {"seconds": 30.0} | scores, {})
        )


def test_what_is_done_is_not_planned_again(grid, profile, tmp_path):
    results, stages = Results(tmp_path / "cpu.jsonl"), Stages({"corpus": "c"})
    units = make_units(grid, profile, grid.choose(["simcse", "augmented", "translated"]), [42], ENCODER)
    simcse, augmented, _ = units
    finish(results, simcse, {"corpus": "c"}, [TRAINING])
    plan = make_plan(units, Results(tmp_path / "cpu.jsonl"), stages, profile)
    assert [entry.state for entry in plan] == ["missing", "missing", "skipped"]
    assert plan[0].missing == ("sts", "clustering")
    assert plan[1].to_make == ("una-random",)
    assert "no augmentation nothing-makes-this" in plan[2].reason
    assert phases(plan) == [(simcse, ("sts",)), (augmented, (TRAINING, "sts")), (simcse, ("clustering",))]
    assert phases(plan, {TRAINING, "sts"}) == [(simcse, ("sts",)), (augmented, (TRAINING, "sts"))]
    assert phases(plan, keep=False) == [(simcse, ("sts", "clustering")), (augmented, (TRAINING, "sts"))]
    assert "skipped" in show(plan)

    finish(results, simcse, {"corpus": "c"})
    finish(results, augmented, {"corpus": "c", "una-random": "u"})
    plan = make_plan(units, Results(tmp_path / "cpu.jsonl"), stages, profile)
    assert [entry.state for entry in plan] == ["done", "done", "skipped"]
    assert phases(plan) == []


def test_a_result_counts_only_for_the_stages_it_came_from(grid, profile, tmp_path):
    results = Results(tmp_path / "cpu.jsonl")
    (unit,) = make_units(grid, profile, grid.choose(["augmented"]), [42], ENCODER)
    finish(results, unit, {"corpus": "c", "una-random": "u"})

    def state(**digests):
        stages = Stages({name.replace("_", "-"): digest for name, digest in digests.items()})
        return make_plan([unit], results, stages, profile)[0].state

    assert state(corpus="c", una_random="u") == "done"
    assert state() == "done"  # nothing made here contradicts it
    assert state(corpus="c", una_random="other") == "missing"
    assert state(corpus="other") == "missing"


def test_a_failed_training_is_not_tried_again_and_says_why(grid, profile, tmp_path):
    results = Results(tmp_path / "cpu.jsonl")
    (unit,) = make_units(grid, profile, grid.choose(["simcse"]), [42], ENCODER)
    finish(results, unit, {"corpus": "c"}, [TRAINING], failed="step 3: the loss is nan")
    (entry,) = make_plan([unit], results, Stages({"corpus": "c"}), profile)
    assert (entry.state, entry.reason, phases([entry])) == ("failed", "step 3: the loss is nan", [])


def test_the_estimate_comes_from_what_was_measured(grid, profile, tmp_path):
    results, stages = Results(tmp_path / "cpu.jsonl"), Stages({"corpus": "c"})
    units = make_units(grid, profile, grid.choose(["simcse"]), [42, 0], ENCODER)
    before = make_plan(units, results, stages, profile)
    assert before[1].seconds == 12.5  # the profile's guess, and a quarter of it for scoring
    finish(results, units[0], {"corpus": "c"})
    assert [entry.seconds for entry in make_plan(units, results, stages, profile)] == [0.0, 60.0]


def test_a_row_is_in_its_profiles_alone_and_its_baseline_may_differ_between_them(grid, profile):
    rows = [
        dataclasses.replace(
            row,
            profiles=("bed",) if row.name == "translated" else (),
            baselines={"cpu": "no-training"} if row.name == "augmented" else {},
        )
        for row in grid.rows
    ]
    grid = dataclasses.replace(grid, rows=tuple(rows))
    here = grid.of_profile(profile)
    assert {row.name for row in grid.rows} - {row.name for row in here.rows} == {"translated"}
    assert all({claim.better, claim.worse} <= {row.name for row in here.rows} for claim in here.claims)
    assert here.row("augmented").baseline == "no-training"
    elsewhere = grid.of_profile(dataclasses.replace(profile, name="bed"))
    assert elsewhere.row("augmented").baseline == "simcse"
    assert elsewhere.row("translated").baseline == "simcse"


def test_the_points_of_a_sweep_have_the_settings_that_the_profile_gives_their_row(grid, profile):
    profile = dataclasses.replace(profile, of_row={"simcse": ["epochs=2"]})
    units = {unit.row.name: unit for unit in make_units(grid, profile, grid.rows, [42], encoder="e" * 64)}
    assert units["rate-1e-05"].recipe.epochs == 2 == units["simcse"].recipe.epochs
    assert "rate-3e-05" not in units and "rate-3e-05" in units["simcse"].same  # the default is the row
    assert units["augmented"].recipe.epochs == 1


def test_an_evaluation_is_in_its_profiles_alone_and_its_test_sets_may_differ_between_them(grid, profile):
    clustering = dataclasses.replace(grid.evaluations["clustering"], profiles=("bed",))
    claims = (dataclasses.replace(grid.claims[0], measure="clustering"), *grid.claims)
    grid = dataclasses.replace(grid, evaluations=grid.evaluations | {"clustering": clustering}, claims=claims)
    assert list(grid.of_profile(profile).evaluations) == ["sts"]
    assert grid.of_profile(profile).claims == grid.claims[1:]
    bed = dataclasses.replace(profile, name="bed", tasks={"clustering": ["tweet"]})
    assert grid.of_profile(bed).claims == grid.claims[1:]  # `augmented` is not clustered
    clustered = dataclasses.replace(bed, scored={"clustering": ["augmented", "no-training"]})
    assert grid.of_profile(clustered).claims == grid.claims
    assert grid.tasks("clustering", profile) == ("agnews",) and grid.tasks("clustering", bed) == ("tweet",)


def test_a_profile_may_be_like_another_and_have_some_of_its_rows_and_evaluations(small_grid, tmp_path):
    more = """
[profile.other]
like = "cpu"
encoder = "other"
only = ["no-training", "simcse", "rate"]
scored = { clustering = ["no-training"] }
decides = false
sweep_tasks = { sts = ["stsb-dev"] }
"""
    path = tmp_path / "grid.toml"
    path.write_text(small_grid.read_text(encoding="utf-8") + more, encoding="utf-8")
    every = load_grid(path)
    first, other = (every.profiles[name] for name in ("cpu", "other"))
    assert (other.name, other.encoder) == ("other", "other")
    assert other.set == first.set and other.seeds == first.seeds
    grid = every.of_profile(other)
    assert {row.sweep or row.name for row in grid.rows} == {"no-training", "simcse", "rate"}
    assert grid.evaluations["clustering"].rows == ("no-training",)
    assert not every.of_profile(dataclasses.replace(other, scored={"intent": ["simcse"]})).evaluations.get(
        "clustering"
    )
    assert grid.tasks("sts", other) == ("stsb-dev", "stsb")
    assert grid.tasks("sts", other, sweep=True) == ("stsb-dev",)
    without = every.of_profile(dataclasses.replace(other, left_out=("rate", "simcse")))
    assert [row.name for row in without.rows] == ["no-training"]
    limited = dataclasses.replace(every.row("simcse"), profiles=("cpu",))
    both = dataclasses.replace(every, rows=(limited,))
    assert both.of_profile(first).rows and both.of_profile(other).rows
    assert not both.of_profile(dataclasses.replace(other, like="")).rows


@pytest.mark.parametrize(
    "key",
    [
        'like = "nothing"',
        'only = ["nothing"]',
        'left_out = ["nothing"]',
        'scored = { sts = ["nothing"] }',
        'together_with = "nothing"',
        "seeds_of = { nothing = [42] }",
        "of_row = { nothing = [] }",
    ],
)
def test_a_profile_that_names_what_is_not_there_is_refused(small_grid, tmp_path, key):
    path = tmp_path / "grid.toml"
    text = small_grid.read_text(encoding="utf-8").replace("rows = 120\n", f"rows = 120\n{key}\n")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="nothing"):
        load_grid(path)


def test_a_point_that_one_profile_has_as_its_row_is_trained_in_another():
    grid = load_grid()
    row, point = "simcse", "learning-rate-3e-05"
    for name, same in (("cpu", True), ("bed", False)):
        units = make_units(grid, grid.profiles[name], grid.choose([row, "learning-rate"]), encoder=ENCODER)
        assert (point in {unit.row.name for unit in units}) != same
        assert any(unit.row.name == row and point in unit.same for unit in units) == same


def test_a_point_asked_for_alone_is_the_row_that_it_is_and_scored_as_the_row(tmp_path, capsys):
    folders = ["--runs", str(tmp_path), "--data", str(tmp_path), "--results", str(tmp_path)]
    main(["plan", "--profile", "cpu", "--rows", "learning-rate", *folders])
    named = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert "simcse" in named and "learning-rate-1e-05" in named
    assert "learning-rate-3e-05" not in named and "una" not in named


def test_step_0_is_in_the_keys_of_profiles_that_ask_for_it_alone(grid, profile):
    asking = dataclasses.replace(profile, from_step_0=True)
    for name, has_it in (("simcse", True), ("no-training", False)):
        first, second = (
            make_unit(grid, given, grid.row(name), 42, ENCODER).key for given in (profile, asking)
        )
        assert (first != second) == has_it


@pytest.mark.slow
def test_no_result_of_the_cpu_profile_is_lost():
    """Rows that were trained before there were beds, token weights and step 0 keep their keys."""
    grid = load_grid()
    profile = grid.profiles["cpu"]
    grid = grid.of_profile(profile)
    results = Results(GRID.parent / "results" / "cpu.jsonl")
    keys = {unit.key for unit in make_units(grid, profile, grid.rows, profile.seeds)}
    keys |= {
        make_unit(grid, profile, row, seed, encoder_digest(profile)).key
        for row in grid.rows
        for seed in profile.seeds
    }
    lines = results.path.read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["key"] for line in lines} <= keys


def test_results_recorded_with_the_shipped_encoder_are_still_its_own():
    """Its config.json names fp32 since, which changed the folder's digest and nothing that it answers."""
    from types import SimpleNamespace

    from benchmarks.reproduce.units import encoder_digest
    from tests.helpers.places import REPOSITORY

    profile = SimpleNamespace(encoder=str(REPOSITORY / "data" / "models" / "encoder"))
    assert encoder_digest(profile).startswith("7d3d3b40b59b9b58")
