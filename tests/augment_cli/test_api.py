"""The Python interface: what a notebook asks for first."""

import subprocess
import sys

import pytest

import augment_cli
from augment_cli.errors import BadInputError, UsageError


def test_run_reads_a_corpus_and_the_store_says_what_it_holds(tmp_path):
    (tmp_path / "in.txt").write_text("The big dog sleeps.\nA heron waits by the river.\n")
    store = augment_cli.run("crop", tmp_path / "store", corpus=tmp_path / "in.txt", jobs=1)
    assert store.frame("crop").height == 2
    assert repr(store) == f"Store('{tmp_path / 'store'}': 2 rows; rejects, corpus, crop)"
    (store.path / "crop/part-00000.parquet").unlink()
    assert "crop (unfinished)" in repr(store)


def test_words_are_augmented_without_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = augment_cli.augment(["The big dog sleeps."], "synonym")
    assert result["text"][0].as_py() != "The big dog sleeps."
    with pytest.raises(BadInputError, match="no store here"):  # it needs a term table
        augment_cli.augment(["The big dog sleeps."], "una")
    with pytest.raises(BadInputError, match="elsewhere: no store here"):  # one was named
        augment_cli.augment(["The big dog sleeps."], "synonym", store="elsewhere")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("function", "known"),
    [
        ("ingest_corpus", "text_column"),
        ("fit", "tokenizer"),
        ("embed", "model"),
        ("score", "model"),
        ("mine", "range_max"),
        ("pack_table", "min_positive"),
    ],
)
def test_an_unknown_keyword_is_named_with_those_there_are_before_anything_is_made(tmp_path, function, known):
    given = {"corpus": [tmp_path]} if function == "ingest_corpus" else {}
    with pytest.raises(UsageError, match=rf"{function}: has no parameter 'rnge'; it has .*{known}"):
        getattr(augment_cli, function)(store=tmp_path / "store", rnge=3, **given)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "call",
    [
        lambda store: augment_cli.run("negation", store),
        lambda store: augment_cli.fit(store),
        lambda store: augment_cli.parse(store),
        lambda store: augment_cli.embed(store=store),
        lambda store: augment_cli.mine(store),
        lambda store: augment_cli.run_recipe("default", store),
    ],
)
def test_the_sample_is_taken_only_where_it_is_named(tmp_path, call):
    with pytest.raises(UsageError, match=r"no corpus there, and none is named; .*augment_cli\.SAMPLE"):
        call(tmp_path / "st2")
    assert not (tmp_path / "st2").exists()


def test_the_sample_by_its_name(tmp_path):
    assert augment_cli.run("crop", tmp_path / "store", corpus=augment_cli.SAMPLE, jobs=1).rows > 500
    assert set(augment_cli.__all__) <= set(dir(augment_cli))


def test_one_name_in_the_place_of_a_list_is_not_spelt_out(tmp_path):
    path = tmp_path / "store"
    (tmp_path / "in.txt").write_text("The big dog sleeps.\nA heron waits by the river.\n")
    augment_cli.run("crop", path, corpus=str(tmp_path / "in.txt"), jobs=1)
    with pytest.raises(UsageError, match="labels='kind' takes it"):
        augment_cli.pack_table(path, positives="crop", negatives=[], jobs=1)
    packed = augment_cli.pack_table(
        path, positives="crop", negatives=[], carry="row_id", labels="kind", jobs=1
    )
    assert packed.frame("pack").columns == ["anchor", "positive", "row_id"]
    assert augment_cli.score(path, "crop", columns="length_ratio", jobs=1).has("scores-crop")
    assert [row["row_id"] for row in augment_cli.inspect("crop", path, rows=1)] == [1]
    assert len(augment_cli.status(path, str(tmp_path / "in.txt"))) == 5
    with pytest.raises(UsageError, match="stages='una': name different stages"):
        augment_cli.fit(path, stages="una")
    kept = augment_cli.ingest_corpus(
        texts=[{"text": "A heron waits.", "topic": "water"}], store=tmp_path / "kept", keep_columns="topic"
    )
    assert kept.read == 1 and "topic" in augment_cli.open_store(tmp_path / "kept").frame("corpus").columns


@pytest.mark.slow
def test_the_command_takes_the_sample_and_says_so(tmp_path):
    call = [sys.executable, "-m", "augment_cli", "ingest", "--store", str(tmp_path / "store")]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "using the shipped sample" in done.stdout + done.stderr
