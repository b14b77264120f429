"""Augmentation runs: parses made first, chains of stages, the command from a stage's settings."""

import json
import shlex

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import augment_cli
from augment_cli import augmentations
from augment_cli.cli import load_commands
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.parsing import pipelines
from augment_cli.reports.soundness import why_not_reused
from augment_cli.runs.again import command_of, options_of
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.runs.stored import joined
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, Edits, apply_edits
from tests.helpers.made_stores import store_of
from tests.helpers.properties import examples

READERS = [name for name in augmentations.names() if "parses" in augmentations.get(name).needs]
LINES = [
    "The heron waits here.",
    "Boats do n't stop.",
    "Two boats wait here, and the heron stops.",
    "🙂  do not stop,\tplease.",
    "The boats do not wait. They stop here.",
] * 8


@pytest.fixture(scope="module")
def parsed(pipeline, tmp_path_factory):
    made = store_of(tmp_path_factory.mktemp("readers"), LINES, part_rows=25)
    with Session(made.path, Engine(1)) as session:
        session.parse(pipeline)
        return session.store


@pytest.fixture
def shipped(pipeline, monkeypatch):
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: pipeline)


@pytest.mark.parametrize("name", READERS)
def test_stored_and_in_memory_are_the_same(name, parsed, pipeline):
    with Session(parsed.path, Engine(1)) as session:
        session.augment(make_run(name))
        stored = session.store.read(name)
    table = augment_cli.augment(LINES, name, store=parsed, pipeline=pipeline)
    assert stored.equals(table.drop_columns(["original"]))


@pytest.mark.parametrize("name", READERS)
def test_a_row_depends_on_nothing_but_itself(name, parsed, pipeline):
    run = make_run(name)
    whole = augment_texts(LINES, parsed, run, pipeline=pipeline)
    backwards = augment_texts(LINES[::-1], parsed, run, np.arange(len(LINES))[::-1], pipeline)
    assert backwards.take(list(range(len(LINES)))[::-1]).equals(whole)


def test_the_parses_are_made_first(shipped, parsed, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    augment_cli.ingest_corpus(tmp_path / "in.txt", tmp_path / "store", part_rows=25)
    made = augment_cli.run("pi", tmp_path / "store", jobs=1)
    assert made.stages() == ["rejects", "corpus", "parses", "pi"]
    assert made.stage("parses").digest == parsed.stage("parses").digest
    assert made.stage("pi").settings["inputs"]["parses"] == parsed.stage("parses").digest
    # The store's own pipeline is found again where nothing is named.
    assert augment_cli.augment(LINES, "pi", store=made).num_rows == len(LINES)


def test_in_memory_the_stores_pipeline_or_none(parsed, pipeline, other_pipeline, monkeypatch):
    with pytest.raises(MissingError, match=r"en_tiny 1\.0\.0, which is not installed here.*pipeline=…"):
        augment_cli.augment(LINES, "pi", store=parsed)
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: other_pipeline)
    with pytest.raises(MissingError, match="is here with other contents"):
        augment_cli.augment(LINES, "pi", store=parsed)
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: pipeline)
    assert augment_cli.augment(LINES, "pi", store=parsed).num_rows == len(LINES)


def test_other_parses_are_read_by_name(parsed, other_pipeline):
    with Session(parsed.path, Engine(1)) as session:
        session.parse(other_pipeline, "other")
        session.augment(make_run("pi", parses="other"), "pi-other", draws=1)
        inputs = session.store.stage("pi-other").settings["inputs"]
        assert inputs["parses"] == session.store.stage("parses-other").digest
        assert inputs["parses"] != session.store.stage("parses").digest
        session.store.remove("parses-other")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("una", {"radius": 3}),
        ("una", {"radius": 4, "background": "none", "include_self": True}),
        ("una", {"surface": "in-place", "radius": 3, "beta": "0.1"}),
        ("una", {"surface": "reference", "radius": 3}),
        ("una", {"avoid": "none", "radius": 3, "background": "none"}),
        ("random-swap", {"rate": 0.3}),
    ],
)
def test_they_make_the_stage_again(store, name, given):
    settings = make_run(name, **given).settings(store)
    options, files = options_of(settings.as_json())
    assert files == [] and options.items() >= {(key, given[key]) for key in given if key == "rate"}
    assert make_run(name, **options).settings(store).fingerprint == settings.fingerprint


def test_a_file_is_known_by_its_digest_alone(store, tmp_path):
    (tmp_path / "kept.txt").write_text("river\n")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", radius=3, keep=str(tmp_path / "kept.txt")), "kept")
    store.reload()
    assert options_of(store.stage("kept").settings)[1] == ["keep"]
    assert "--keep FILE" in command_of(store, "kept")


def test_a_shipped_file_that_is_the_default_is_no_file_of_ones_own(store, tmp_path):
    (tmp_path / "own.txt").write_text("A heron waits.\nA boat drifts.\n")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("random-sentence"))
        session.augment(make_run("random-sentence", sentences=str(tmp_path / "own.txt")), "own")
    store.reload()
    assert command_of(store, "random-sentence") == "augment-cli random-sentence"
    assert command_of(store, "own") == "augment-cli random-sentence --sentences FILE --name own"


@pytest.mark.parametrize(
    ("typed", "stage"),
    [
        ("una --radius 4 --draws 3 --seed 7 --name three", "three.2"),
        ("una --radius 4 --surface in-place --fit second --name of-second", "of-second"),
    ],
)
def test_a_command_that_makes_a_stage_again(store, command, typed, stage):
    if "--fit" in typed:
        assert command("fit", "--min-df", 2, "--name", "second").returncode == 0
    assert command(*typed.split()).returncode == 0
    store.reload()
    fingerprint, again = store.stage(stage).settings["fingerprint"], shlex.split(command_of(store, stage))
    done = command("remove", stage)
    assert done.returncode == 0, done.stderr
    assert command(*again[1:]).returncode == 0
    assert Store.open(store.path).stage(stage).settings["fingerprint"] == fingerprint


def test_a_command_names_what_a_stage_does_not_know_the_place_of(made_store, monkeypatch):
    store = Store.open(made_store)
    settings = {
        "stage": "paraphrase",
        "seed": 42,
        "parameters": {"faithful": {"wordnet": "0" * 64}, "rows": 3, "draw": 0},
        "inputs": {"corpus": "1" * 64},
        "resources": {"model": "2" * 64},
    }
    stages = {"paraphrase": msgspec.structs.replace(store.stage("una"), settings=settings)}
    monkeypatch.setattr(Store, "stage", lambda self, name: stages[name])
    assert command_of(store, "paraphrase") == "augment-cli paraphrase --rows 3 --model FOLDER"
    settings["parameters"]["faithful"] = None
    assert command_of(store, "paraphrase") == "augment-cli paraphrase --rows 3 --no-faithful --model FOLDER"
    settings |= {
        "stage": "back-translate",
        "resources": {"forward model": "3" * 64, "backward model": "4" * 64},
    }
    settings["parameters"] = {}
    assert command_of(store, "paraphrase") == (
        "augment-cli back-translate --forward FOLDER --backward FOLDER --name paraphrase"
    )


LINES_OF_CHAINS = [
    "The shop is legal.",
    "The river flows through the town.",
    "All answers are possible.",
    "The old bridge was closed.",
    "The doctor rescued the hunter in May 1990.",
    "Tea, coffee!",
]


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    with Session(folder / "store") as session:
        session.ingest(texts=LINES_OF_CHAINS)
        session.augment(make_run("adjective-antonym", place="predicate"), "opposite")
        session.augment(make_run("negation", of="opposite"))
        session.augment(make_run("quantity", of="negation"))
        session.augment(make_run("rephrase", kinds="voice", clauses=1.0), "voice")
        session.augment(make_run("phrase-swap", of="voice"))
        return session.store


def rows_of(store: Store, stage: str) -> dict[int, tuple[str, str]]:
    return {
        row["row_id"]: (row["text"], row["label"]) for row in store.read(stage).to_pylist() if row["text"]
    }


def test_two_turns_of_one_predicate_say_the_same(chains):
    rows = rows_of(chains, "negation-of-opposite")
    assert rows[0] == ("The shop is not illegal.", "same")
    assert rows[2] == ("All answers are not impossible.", "neither")  # "not" may deny "all"
    assert chains.stage("negation-of-opposite").settings["parameters"]["label"] == "same"


def test_a_turn_beside_another_stays_one(chains):
    """`quantity` made its stage of `negation` first, since the store had none."""
    assert "negation" in chains.stages()
    text, label = rows_of(chains, "quantity-of-negation")[4]
    assert label == "other"
    assert text.startswith("The doctor did not rescue the hunter in ")
    assert text != "The doctor did not rescue the hunter in May 1990."


def test_a_paraphrase_that_is_turned_is_turned(chains):
    assert rows_of(chains, "phrase-swap-of-voice")[4] == (
        "The doctor was rescued by the hunter in May 1990.",
        "other",
    )


def test_a_chain_is_a_stage_as_any_other(chains):
    assert augment_cli.verify(chains.path) == []
    assert why_not_reused(chains, "negation-of-opposite") is None
    command = command_of(chains, "negation-of-opposite")
    assert command == "augment-cli negation --of opposite --name negation-of-opposite"
    with Session(chains.path) as session:
        session.augment(make_run("negation", of="opposite"))
        assert not session.results[-1].was_made


def test_pack_takes_only_rows_that_say_the_same(chains):
    packed = augment_cli.pack_table(
        chains.path, positives=["negation-of-opposite"], negatives=["phrase-swap-of-voice"], name="chained"
    )
    texts = [row["positive"] for row in packed.read("chained").to_pylist() if row.get("positive")]
    assert "All answers are not impossible." not in texts


def test_what_cannot_be_chained_is_refused(chains):
    with Session(chains.path) as session:
        with pytest.raises(UsageError, match="no finished augmentation of this name"):
            session.augment(make_run("negation", of="nothing"))
        with pytest.raises(UsageError, match="runs a model"):
            session.augment(make_run("paraphrase", of="opposite"))
    with pytest.raises(UsageError, match="names a stage of a store"):
        augment_cli.augment(LINES_OF_CHAINS, "negation", of="opposite")


TEXTS = st.text("ab ", min_size=0, max_size=12)


def edits_on(text: str, data: st.DataObject) -> list[tuple[int, int, str]]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    return [(start, end, data.draw(st.text("xy", max_size=3))) for start, end in spans]


def after(text: str, edits: list[tuple[int, int, str]]) -> str:
    starts, ends, new = zip(*edits, strict=True) if edits else ((), (), ())
    column = Edits(
        np.zeros(len(edits), np.int64),
        np.array(starts, np.int32),
        np.array(ends, np.int32),
        pa.array(new, pa.string()),
    )
    return apply_edits(CodePoints.of(pa.array([text])), column)[0].as_py()


@examples(300)
@given(text=TEXTS, data=st.data())
def test_two_steps_of_edits_in_one_give_the_same_text(text, data):
    first = edits_on(text, data)
    between = after(text, first)
    second = edits_on(between, data)
    assert after(text, joined(between, first, second)) == after(between, second)


def run(*arguments):
    done = CliRunner().invoke(load_commands(), [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_command_takes_a_pipeline_and_so_does_a_recipe(pipeline, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    common = ["--corpus", tmp_path / "in.txt", "--store", tmp_path / "store", "--json", "--jobs", "1"]
    planned = run("pi", *common, "--dry-run")
    assert [entry["stage"] for entry in planned] == ["corpus", "parses", "pi"]
    made = run("pi", *common, "--pipeline", pipeline)
    assert [entry["stage"] for entry in made if entry["seconds"]] == ["corpus", "parses", "pi"]
    (tmp_path / "r.toml").write_text(
        f"[parse]\npipeline = {json.dumps(str(pipeline))}\n[[run]]\naugmentation = 'aa'\n"
    )
    made = run("run", tmp_path / "r.toml", *common)
    assert [entry["stage"] for entry in made if entry["seconds"]] == ["aa"]
