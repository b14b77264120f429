"""The stage: same bytes however it is made, resumed after a kill, and never mixed."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import find_again, find_pipeline, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.reports import report
from augment_cli.reports.soundness import verify
from augment_cli.session import Session, Silent
from augment_cli.store.files import sha256_of_file
from augment_cli.store.store import Store
from tests.helpers.appearing import appeared


def digests(path):
    return {part.name: sha256_of_file(part) for part in sorted(path.glob("parses/*.parquet"))}


def ingested(path, parsed_corpus_file, rows=1_100):
    with Session(path, Engine(1)) as session:
        session.ingest([parsed_corpus_file], IngestOptions(part_rows=rows))
    return path


@pytest.fixture(scope="session")
def parsed_store(tmp_path_factory, parsed_corpus_file, pipeline):
    """A store with two parts of parses: 1,100 rows in two pieces, and 300 rows in one."""
    path = ingested(tmp_path_factory.mktemp("made") / "store", parsed_corpus_file)
    with Session(path, Engine(1)) as session:
        session.parse(pipeline)
        assert [(one.stage, one.was_made) for one in session.results] == [("parses", True)]
    assert verify(Store.open(path)) == []
    return path


@pytest.fixture
def path(parsed_corpus_file, tmp_path):
    """A store of the same two parts that is not parsed yet."""
    return ingested(tmp_path / "store", parsed_corpus_file)


@pytest.fixture
def store(parsed_store, tmp_path):
    """A copy that a test may spoil."""
    shutil.copytree(parsed_store, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_parts_hold_what_the_pipeline_says(parsed_store, pipeline):
    store = Store.open(parsed_store)
    corpus = store.read("corpus")
    nlp = load_pipeline(find_pipeline(pipeline))
    expected = parse_texts(nlp, corpus["text"].combine_chunks(), corpus["row_id"].to_numpy())
    assert store.read("parses").replace_schema_metadata(None).equals(expected)
    assert [part.rows for part in store.stage("parses").parts.values()] == [1_100, 300]
    numbers = report.stats(store, "parses")
    assert numbers["tokens"] == len(expected["starts"].combine_chunks().flatten())
    assert numbers["sentences"] == sum(expected["sentence_starts"].combine_chunks().flatten().to_pylist())
    assert not list(store.work.glob("parses*"))


def test_settings_name_the_pipeline_but_no_place(parsed_store, pipeline):
    settings = Store.open(parsed_store).stage("parses").settings
    assert settings["parameters"] == {
        "pipeline": "en_tiny",
        "version": "1.0.0",
        "disabled": ["ner"],
        "contractions": "joined",
    }
    assert settings["resources"] == {"pipeline": find_pipeline(pipeline).digest}
    assert settings["libraries"].keys() == {"spacy"}
    for file in (parsed_store / "manifest.json", parsed_store / "parses" / "part-00000.parquet"):
        assert str(pipeline.parent).encode() not in file.read_bytes()


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(Engine(2), id="processes", marks=pytest.mark.slow),  # each loads the pipeline anew
        pytest.param(Engine(2, "threading"), id="threads"),
    ],
)
def test_same_bytes_with_any_workers(parsed_store, path, pipeline, engine):
    with Session(path, engine) as session:
        session.parse(pipeline)
    assert digests(path) == digests(parsed_store)


class Progress(Silent):
    """A reporter that keeps what it is told."""

    def __init__(self):
        self.rows, self.calls = None, []

    def progress(self, stage, rows):
        self.rows = rows
        return contextlib.nullcontext(self.calls.append)


def parsed(path, pipeline):
    """Parse a store; returns what was said of the progress."""
    progress = Progress()
    with Session(path, Engine(1), progress) as session:
        session.parse(pipeline)
    return progress


def test_progress_within_a_part(parsed_corpus_file, pipeline, tmp_path):
    progress = parsed(ingested(tmp_path / "store", parsed_corpus_file, 50_000), pipeline)
    assert (progress.rows, progress.calls) == (1_400, [1_024, 376])


class StoppedError(Exception):
    """Stands for whatever ends a run."""


def stop_after(pieces, monkeypatch):
    real, count = parsing.parse_piece, iter(range(pieces))

    def parse_piece(**arguments):
        if next(count, None) is None:
            raise StoppedError
        return real(**arguments)

    monkeypatch.setattr(parsing, "parse_piece", parse_piece)


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_an_ended_run_loses_only_the_piece_in_work(parsed_store, path, pipeline, monkeypatch, pieces):
    with monkeypatch.context() as patch:
        stop_after(pieces, patch)
        with Session(path, Engine(1)) as session, pytest.raises(StoppedError):
            session.parse(pipeline)
    progress = parsed(path, pipeline)
    assert progress.calls == [1_024, 76, 300][pieces:]
    assert progress.rows == sum(progress.calls)
    assert digests(path) == digests(parsed_store) and verify(Store.open(path)) == []
    assert not list(Store.open(path).work.glob("parses*"))


def test_a_part_whose_pieces_are_all_there_is_only_joined(parsed_store, path, pipeline, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", lambda self, pending: (_ for _ in ()).throw(StoppedError()))
        with Session(path, Engine(1)) as session, pytest.raises(StoppedError):
            session.parse(pipeline)
    assert parsed(path, pipeline).calls == [300] and digests(path) == digests(parsed_store)


def test_pieces_of_another_pipeline_are_not_read(parsed_store, path, pipeline, other_pipeline):
    with Session(path, Engine(1)) as session:
        work = parsing.begin(session.store, find_pipeline(other_pipeline), "parses")
        parsing.parse_piece(path, "parses", 0, 0, work.source, work.settings)
    assert parsed(path, pipeline).rows == 1_400 and digests(path) == digests(parsed_store)


def test_a_deleted_part_is_made_anew(parsed_store, store, pipeline):
    (store / "parses" / "part-00001.parquet").unlink()
    assert parsed(store, pipeline).calls == [300] and digests(store) == digests(parsed_store)


def test_some_parts_only(parsed_store, path, pipeline):
    for chosen in ({1}, {0}):
        with Session(path, Engine(1), shared=True) as session:
            session.parse(pipeline, parts=chosen)
    assert digests(path) == digests(parsed_store)
    with Session(path, Engine(1), shared=True) as session, pytest.raises(UsageError, match="no part 2"):
        session.parse(pipeline, parts={2})


def test_another_pipeline_is_refused_and_the_key_is_named(store, other_pipeline):
    before = digests(store)
    with (
        Session(store, Engine(1)) as session,
        pytest.raises(MixError, match=r"made with resources\.pipeline = .* --parses NAME"),
    ):
        session.parse(other_pipeline)
    with Session(store, Engine(1)) as session:
        session.parse(other_pipeline, "other")
        assert session.store.has("parses-other")
    assert digests(store) == before and verify(Store.open(store)) == []


def test_parses_that_are_there_are_kept_where_no_pipeline_is_named(store, monkeypatch):
    monkeypatch.setattr(parsing, "finish", None)
    augment_cli.parse(store, jobs=1)


def test_status_names_a_pipeline_that_changed(store, pipeline, other_pipeline, monkeypatch):
    assert report.status(Store.open(store))[-1]["differs"] is None  # in a folder: nothing to compare with
    for folder, expected in ((pipeline, None), (other_pipeline, "resources.pipeline = ")):
        monkeypatch.setattr(
            "augment_cli.parsing.kinds.known_by_name", lambda name, folder=folder: find_pipeline(folder)
        )
        differs = report.status(Store.open(store))[-1]["differs"]
        assert differs is None if expected is None else differs.startswith(expected)
    monkeypatch.setattr(parsing, "VERSION", 99)
    assert report.status(Store.open(store))[-1]["differs"] == "version = 1, now 99"


def test_a_stage_begun_with_a_folder_asks_for_it_again(store, pipeline):
    settings = Store.open(store).stage("parses").settings
    with pytest.raises(
        MissingError, match=r"pipeline en_tiny 1\.0\.0, which is not installed here.*--pipeline"
    ):
        find_again(settings)
    (store / "parses" / "part-00001.parquet").unlink()
    with Session(store, Engine(1)) as session, pytest.raises(MissingError, match="name its folder"):
        session.parse()


def test_the_example_of_the_docs_works(parsed_store):
    text = (Path(__file__).parents[3] / "docs/reference/parses.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.S)[1].replace("store/", f"{parsed_store}/")
    scope = {}
    exec(code, scope)
    roots = scope["roots"]
    assert len(roots) and set(roots.columns) == {"row_id", "lemmas", "token"}
    texts = Store.open(parsed_store).read("corpus")["text"].to_pylist()
    assert all(token and token in texts[row] for row, _, token in roots.iter_rows())


@pytest.fixture(scope="module")
def undisturbed(pipeline, tmp_path_factory):
    """A corpus of two parts of two pieces, and the digests of its parses."""
    folder = tmp_path_factory.mktemp("kills")
    (folder / "in.txt").write_text("".join(f"The heron of river {n} waits.\n" for n in range(4_000)))
    shutil.copytree(ingested(folder / "store", folder / "in.txt", 2_000), folder / "whole")
    with Session(folder / "whole", Engine(1)) as session:
        session.parse(pipeline)
    return folder / "store", digests(folder / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [0, 1, 3])
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_a_killed_command_resumes(pipeline, undisturbed, tmp_path, name, pieces):
    """Killed when `pieces` pieces have appeared; then the same command again."""
    shutil.copytree(undisturbed[0], tmp_path / "store")
    command = [sys.executable, "-P", "-m", "augment_cli", "parse", "--jobs", "2", "--pipeline", str(pipeline)]
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if appeared(tmp_path / "store", "**/piece-*.parquet") >= pieces:
            os.killpg(process.pid, getattr(signal, name))
            process.wait(60)
            break
        time.sleep(0.01)
    done = subprocess.run(
        [*command, "--json"], cwd=tmp_path, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert json.loads(done.stdout)[-1]["complete"]
    assert digests(tmp_path / "store") == undisturbed[1]
    assert verify(Store.open(tmp_path / "store")) == []
