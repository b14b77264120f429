"""Which pipeline is meant, what is said where there is none, and the commands that take one."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
import spacy
from typer.testing import CliRunner

import augment_cli
from augment_cli.cli import load_commands
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.parsing import pipelines
from augment_cli.parsing.pipelines import find_again, find_pipeline, known_by_name, load_pipeline
from augment_cli.parsing.stage import chosen_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.reports import report
from augment_cli.reports.doctor import examine
from augment_cli.runs import recipe as recipes
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store


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
    """A copy that a test may spoil."""
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


def test_the_stage_decides_where_nothing_is_named(pipeline, other_pipeline, tmp_path, monkeypatch):
    store = Store.create(tmp_path / "store")
    monkeypatch.setattr(pipelines, "shipped_pipeline", lambda: other_pipeline)
    assert chosen_pipeline(store, "parses").digest == find_pipeline(other_pipeline).digest
    assert chosen_pipeline(store, "parses", pipeline).folder == pipeline


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


def test_doctor_misses_spacy_and_the_shipped_pipeline(tmp_path, monkeypatch):
    def parse_entry():
        return next(entry for entry in examine(tmp_path) if entry["what"] == "parse")

    monkeypatch.setattr("augment_cli.reports.doctor.shipped_pipeline", lambda: None)
    assert parse_entry() == {"what": "parse", "ready": True, "missing": [], "get": None}

    def gone():
        raise MissingError("gone")

    monkeypatch.setattr("augment_cli.reports.doctor.shipped_pipeline", gone)
    assert parse_entry()["missing"] == ["shipped English pipeline"]
    assert parse_entry()["get"] == "augment-cli parse --pipeline NAME_OR_FOLDER"
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "spacy" else real(name))
    assert parse_entry()["missing"] == ["spacy", "shipped English pipeline"]
    assert parse_entry()["get"] == "pip install 'augment-cli[parse]'"


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


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, augment_cli, augment_cli.session, augment_cli.cli.commands\n"
        "print([name for name in ('spacy', 'thinc', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
