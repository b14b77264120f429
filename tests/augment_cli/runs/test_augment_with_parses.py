"""Augmentations that read parses: these are made first, chosen by name, and the same in memory."""

import inspect
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import augment_cli
from augment_cli import augmentations
from augment_cli.cli import load_commands
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.parsing import pipelines
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.made_stores import store_of

READERS = [name for name in augmentations.names() if "parses" in augmentations.get(name).needs]
LINES = [
    "The heron waits here.",
    "Boats do n't stop.",
    "Two boats wait here, and the heron stops.",
    "🙂  do not stop,\tplease.",
    "The boats do not wait. They stop here.",
] * 8


@pytest.fixture(scope="module")
def store(pipeline, tmp_path_factory):
    """A store of two parts with its parses."""
    made = store_of(tmp_path_factory.mktemp("readers"), LINES, part_rows=25)
    with Session(made.path, Engine(1)) as session:
        session.parse(pipeline)
        return session.store


@pytest.fixture
def shipped(pipeline, monkeypatch):
    """The tiny pipeline in the place of the shipped one."""
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: pipeline)


@pytest.mark.parametrize("name", READERS)
def test_stored_and_in_memory_are_the_same(name, store, pipeline):
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run(name))
        stored = session.store.read(name)
    table = augment_cli.augment(LINES, name, store=store, pipeline=pipeline)
    assert stored.equals(table.drop_columns(["original"]))


@pytest.mark.parametrize("name", READERS)
def test_a_row_depends_on_nothing_but_itself(name, store, pipeline):
    run = make_run(name)
    whole = augment_texts(LINES, store, run, pipeline=pipeline)
    backwards = augment_texts(LINES[::-1], store, run, np.arange(len(LINES))[::-1], pipeline)
    assert backwards.take(list(range(len(LINES)))[::-1]).equals(whole)


def test_the_parses_are_made_first(shipped, store, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    augment_cli.ingest_corpus(tmp_path / "in.txt", tmp_path / "store", part_rows=25)
    made = augment_cli.run("pi", tmp_path / "store", jobs=1)
    assert made.stages() == ["rejects", "corpus", "parses", "pi"]
    assert made.stage("parses").digest == store.stage("parses").digest
    assert made.stage("pi").settings["inputs"]["parses"] == store.stage("parses").digest
    # The store's own pipeline is found again where nothing is named.
    assert augment_cli.augment(LINES, "pi", store=made).num_rows == len(LINES)


def test_in_memory_the_stores_pipeline_or_none(store, pipeline, other_pipeline, monkeypatch):
    with pytest.raises(MissingError, match=r"en_tiny 1\.0\.0, which is not installed here.*pipeline=…"):
        augment_cli.augment(LINES, "pi", store=store)
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: other_pipeline)
    with pytest.raises(MissingError, match="is here with other contents"):
        augment_cli.augment(LINES, "pi", store=store)
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: pipeline)
    assert augment_cli.augment(LINES, "pi", store=store).num_rows == len(LINES)


def test_other_parses_are_read_by_name(store, other_pipeline):
    with Session(store.path, Engine(1)) as session:
        session.parse(other_pipeline, "other")
        session.augment(make_run("pi", parses="other"), "pi-other", draws=1)
        inputs = session.store.stage("pi-other").settings["inputs"]
        assert inputs["parses"] == session.store.stage("parses-other").digest
        assert inputs["parses"] != session.store.stage("parses").digest
        session.store.remove("parses-other")


def test_parts_need_parses_that_are_there(store, shipped):
    with Session(store.path, Engine(1), shared=True) as session:
        session.augment(make_run("pi"), "pi-parts", parts={1})
        assert session.store.stage("pi-parts").parts.keys() == {1}
        with pytest.raises(UsageError, match="Make it with `augment-cli parse"):
            session.augment(make_run("pi", parses="new"), parts={1})


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


def test_options_are_shown_where_they_mean_something():
    from augment_cli.cli.commands import make_command

    def options(name):
        return set(inspect.signature(make_command(name)).parameters)

    assert {"parses", "pipeline"} <= options("pi") and "fit" not in options("pi")
    assert "fit" in options("una") and not {"parses", "pipeline"} & options("una")


def test_a_store_without_parses_reads_with_the_shipped_pipeline(shipped, tmp_path):
    augment_cli.ingest_corpus([augment_cli.session.SAMPLE], tmp_path / "store", limit=5)
    assert augment_cli.augment(LINES, "pi", store=Store.open(tmp_path / "store")).num_rows == len(LINES)
