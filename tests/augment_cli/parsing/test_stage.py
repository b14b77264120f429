"""Parses as a stage: same bytes however it is made, resumed, never mixed; and which pipeline is meant."""

import contextlib
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from typer.testing import CliRunner

import augment_cli
from augment_cli.cli import load_commands
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MissingError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import find_again, find_pipeline, known_by_name, load_pipeline
from augment_cli.parsing.stage import parse_texts
from augment_cli.reports import report
from augment_cli.reports.soundness import verify
from augment_cli.runs import recipe as recipes
from augment_cli.session import SAMPLE, Session, Silent
from augment_cli.store.files import sha256_of_file
from augment_cli.store.journal import pieces_in
from augment_cli.store.store import Store


def digests(path):
    return {part.name: sha256_of_file(part) for part in sorted(path.glob("parses/*.parquet"))}


def ingested(path, parsed_corpus_file, rows=1_100):
    with Session(path, Engine(1)) as session:
        session.ingest([parsed_corpus_file], IngestOptions(part_rows=rows))
    return path


@pytest.fixture(scope="session")
def parsed_store(tmp_path_factory, parsed_corpus_file, pipeline):
    path = ingested(tmp_path_factory.mktemp("made") / "store", parsed_corpus_file)
    with Session(path, Engine(1)) as session:
        session.parse(pipeline)
        assert [(one.stage, one.was_made) for one in session.results] == [("parses", True)]
    assert verify(Store.open(path)) == []
    return path


@pytest.fixture
def path(parsed_corpus_file, tmp_path):
    return ingested(tmp_path / "store", parsed_corpus_file)


@pytest.fixture
def store(parsed_store, tmp_path):
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
    def __init__(self):
        self.rows, self.calls = None, []

    def progress(self, stage, rows):
        self.rows = rows
        return contextlib.nullcontext(self.calls.append)


def parsed(path, pipeline):
    progress = Progress()
    with Session(path, Engine(1), progress) as session:
        session.parse(pipeline)
    return progress


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


def test_a_spoiled_piece_is_made_again(parsed_store, path, pipeline, monkeypatch, command):
    """As those of vectors, scores, mining and models are: what counts as spoilt, `test_journal.py` shows."""
    with monkeypatch.context() as patch:
        stop_after(1, patch)
        with Session(path, Engine(1)) as session, pytest.raises(StoppedError):
            session.parse(pipeline)
    assert "0 + 1,024" in command("status", "--store", path).stdout
    (piece,) = pieces_in(path / ".work" / "parses")
    data = bytearray(piece.read_bytes())
    data[len(data) // 2] ^= 4
    piece.write_bytes(data)
    assert parsed(path, pipeline).calls == [76, 300, 1_024]  # it is seen when the part is joined
    assert digests(path) == digests(parsed_store)


def test_a_part_whose_pieces_are_all_there_is_only_joined(parsed_store, path, pipeline, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", lambda self, pending: (_ for _ in ()).throw(StoppedError()))
        with Session(path, Engine(1)) as session, pytest.raises(StoppedError):
            session.parse(pipeline)
    assert parsed(path, pipeline).calls == [300] and digests(path) == digests(parsed_store)


def test_a_deleted_part_is_made_anew(parsed_store, store, pipeline):
    (store / "parses" / "part-00001.parquet").unlink()
    assert parsed(store, pipeline).calls == [300] and digests(store) == digests(parsed_store)


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


@pytest.fixture
def installed(pipeline, tmp_path, monkeypatch):
    """The tiny pipeline as the package `en_tiny`, in the form in which spaCy packages are installed."""
    package = tmp_path / "site" / "en_tiny"
    shutil.copytree(pipeline, package / "en_tiny-1.0.0")
    shutil.copy(pipeline / "meta.json", package)
    (package / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_init_py\n"
        "def load(**options):\n    return load_model_from_init_py(__file__, **options)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    yield package
    sys.modules.pop("en_tiny", None)


def test_a_folder_and_an_installed_package_are_the_same(pipeline, installed, tmp_path, monkeypatch):
    by_folder, by_name = find_pipeline(pipeline), find_pipeline("en_tiny")
    assert (by_name.name, by_name.version, by_name.digest) == ("en_tiny", "1.0.0", by_folder.digest)
    assert by_name.package == "en_tiny" and by_folder.package is None
    assert find_pipeline(installed).digest == by_folder.digest  # the package's folder will do as well
    monkeypatch.chdir(tmp_path)
    shutil.copytree(pipeline, "near")
    assert find_pipeline("near").digest == find_pipeline("./near").digest == by_folder.digest


def test_finding_a_package_does_not_run_it(installed):
    (installed / "__init__.py").write_text("raise RuntimeError")
    assert find_pipeline("en_tiny").version == "1.0.0"
    assert "en_tiny" not in sys.modules


def test_a_stages_pipeline_is_found_again_by_name_and_digest(installed, pipeline, other_pipeline):
    source = find_pipeline(pipeline)
    settings = {"parameters": source.parameters(), "resources": {"pipeline": source.digest}}
    assert find_again(settings).package == "en_tiny"
    assert known_by_name("en_tiny").digest == source.digest and known_by_name("en_nothing") is None
    shutil.rmtree(installed / "en_tiny-1.0.0")
    shutil.copytree(other_pipeline, installed / "en_tiny-1.0.0")
    with pytest.raises(MissingError, match=r"is here with other contents \(version 1\.0\.0\)"):
        find_again(settings)


@pytest.mark.parametrize("named", ["en_nothing", "no/such/folder", "json", "a.b", "../x", "en core"])
def test_what_is_not_there_says_what_to_do(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingError, match=r"is installed, and no folder is there.*nothing is downloaded"):
        find_pipeline(named)
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingError, match="holds no spaCy pipeline"):
        find_pipeline("empty")


@pytest.fixture
def spoiled(pipeline, tmp_path):
    return shutil.copytree(pipeline, tmp_path / "spoiled")


@pytest.mark.parametrize("file", ["meta.json", "config.cfg"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"lang": "en"}', b"[nlp]\npipeline = x", b"[" * 100_000],
    ids=["empty", "cut", "not UTF-8", "list", "incomplete", "foreign", "deep"],
)
def test_a_spoiled_description_is_no_pipeline(spoiled, file, content):
    (spoiled / file).write_bytes(content)
    with pytest.raises(MissingError, match="holds no spaCy pipeline"):
        find_pipeline(spoiled)


@pytest.mark.parametrize("kind", ["device", "pipe", "nothing"])
@pytest.mark.parametrize("file", ["tok2vec/model", "meta.json", "config.cfg"])
def test_what_is_not_a_file_is_refused_before_it_is_read(spoiled, kind, file):
    path = spoiled / file
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "nowhere")
    with pytest.raises(BadInputError, match=rf"{file} (cannot be read|is a (device|pipe), not a file)"):
        find_pipeline(spoiled)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        *((file, b"\x93spoiled") for file in ("parser/model", "vocab/strings.json", "tokenizer")),
        ("tagger/cfg", b'{"labels": 3}'),
        ("config.cfg", "-1"),
        ("config.cfg", "0"),
    ],
)
def test_spoiled_weights_or_a_batch_size_that_is_none_cannot_be_loaded(spoiled, file, content):
    if isinstance(content, str):  # a batch size
        settings = (spoiled / file).read_text()
        content = re.sub(r"(?m)^batch_size = .*", f"batch_size = {content}", settings, count=1).encode()
    (spoiled / file).write_bytes(content)
    with pytest.raises(MissingError, match="cannot load it"):
        load_pipeline(find_pipeline(spoiled))


def test_a_pipeline_of_a_million_layers_is_refused_before_it_is_built(spoiled):
    settings = (spoiled / "config.cfg").read_text()
    (spoiled / "config.cfg").write_text(settings.replace("depth = 1\n", "depth = 1000000\n"))
    with pytest.raises(MissingError, match=r"no spaCy pipeline \(.*depth is 1,000,000, and at most 1,000"):
        find_pipeline(spoiled)


def test_a_pipeline_without_parser_or_tagger_is_refused(tmp_path):
    nlp = spacy.blank("en", meta={"name": "bare", "version": "1"})
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "bare")
    with pytest.raises(UsageError, match=r"pipeline en_bare: has no parser.*it has sentencizer"):
        load_pipeline(find_pipeline(tmp_path / "bare"))


def test_a_library_that_the_pipeline_needs(spoiled):
    meta = json.loads((spoiled / "meta.json").read_text())
    meta["requirements"] = ["numpy>=1,<99", "no-such-library>=2"]
    (spoiled / "meta.json").write_text(json.dumps(meta))
    source = find_pipeline(spoiled)
    assert source.libraries == ("no-such-library", "numpy", "spacy")
    with pytest.raises(MissingError, match="no-such-library is needed, and not installed here"):
        source.library_versions()


def test_the_shipped_pipeline_is_found_and_found_again(tmp_path):
    """From a store that was parsed with it to sentences in memory, and `status` has nothing to say."""
    shipped = find_pipeline()
    assert known_by_name(shipped.name) == find_pipeline(shipped.name) == shipped
    store = tmp_path / "store"
    augment_cli.ingest_corpus(SAMPLE, store, limit=20)
    parsed = augment_cli.parse(store, jobs=1)
    assert find_again(parsed.stage("parses").settings) == shipped
    assert [entry["differs"] for entry in report.status(parsed)] == [None, None, None]
    assert augment_cli.augment(["The heron is grey."], "pi", store=parsed).num_rows == 1
    row = parse_texts(load_pipeline(shipped), pa.array(["The herons waited."])).to_pylist()[0]
    assert row["lemmas"] == ["the", "heron", "wait", "."] and row["heads"] == [1, 2, 2, 2]
    assert row["deps"] == ["det", "nsubj", "ROOT", "punct"] and row["morphs"][1] == "Number=Plur"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", None),
        ('[parse]\npipeline = "en_tiny"', "en_tiny"),
        ('[parse]\nname = "x"', UsageError),
        ("[parse]\npipeline = 3", UsageError),
        ("parse = 3", UsageError),
    ],
)
def test_recipes_may_name_a_pipeline(tmp_path, table, expected):
    (tmp_path / "r.toml").write_text(f'{table}\n[[run]]\naugmentation = "una"\n')
    if expected is UsageError:
        with pytest.raises(UsageError, match=r"\[parse\]"):
            recipes.pipeline_of(str(tmp_path / "r.toml"))
    else:
        assert recipes.pipeline_of(str(tmp_path / "r.toml")) == expected


def run(*arguments):
    return CliRunner().invoke(load_commands(), [str(argument) for argument in arguments])


def test_the_command_from_a_dry_run_to_rows(pipeline, tmp_path):
    (tmp_path / "in.txt").write_text("The heron waits.\nBoats don't stop here.\n")
    common = ["--corpus", tmp_path / "in.txt", "--store", tmp_path / "store", "--pipeline", pipeline]
    stages = ["corpus", "parses"]
    planned = json.loads(run("parse", *common, "--dry-run", "--json").stdout)
    assert [[entry["stage"], entry["state"]] for entry in planned] == [[name, "to do"] for name in stages]
    assert not (tmp_path / "store").exists()
    done = run("parse", *common, "--limit", "1", "--jobs", "1", "--name", "small", "--json")
    assert done.exit_code == 0, done.output
    assert [(entry["stage"], entry["rows"]) for entry in json.loads(done.stdout)][-1] == ("parses-small", 1)
    rows = json.loads(run("inspect", "parses-small", "--store", tmp_path / "store", "--json").stdout)
    assert [row["ends"] for row in rows] == [[3, 9, 15, 16]]
