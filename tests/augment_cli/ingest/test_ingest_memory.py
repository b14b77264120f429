"""Sentences in memory: whatever holds them, the corpus is that of a file with the same lines."""

import json

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.ingest.memory import spool
from augment_cli.store.store import Store
from tests.helpers.properties import examples

LINES = ["The river flows.", "Ein Boot treibt über den Fluss.", "今天下雨。"]
FORMS = {
    "list": lambda lines: list(lines),
    "tuple": tuple,
    "generator": lambda lines: (line for line in lines),
    "list of objects": lambda lines: [{"text": line} for line in lines],
    "NumPy array": np.array,
    "Arrow array": pa.array,
    "Arrow table": lambda lines: pa.table({"text": lines, "other": range(len(lines))}),
    "Arrow batches": lambda lines: pa.table({"text": lines}).to_reader(),
    "polars frame": lambda lines: polars.DataFrame({"text": lines}),
    "polars series": lambda lines: polars.Series("body", lines),
    "pandas frame": lambda lines: pandas.DataFrame({"text": lines}, index=range(5, 5 + len(lines))),
    "pandas series": pandas.Series,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_corpus_of_a_file(tmp_path, form):
    report = augment_cli.ingest_corpus(texts=FORMS[form](LINES), store=tmp_path / "store")
    store = augment_cli.open_store(tmp_path / "store")
    assert (report.kept, report.reasons) == (3, {})
    rows = zip(LINES, ["texts.jsonl"] * 3, [1, 2, 3], strict=True)
    table = store.read("corpus", ["text", "source", "line"])
    assert [tuple(row.values()) for row in table.to_pylist()] == list(rows)
    assert not (store.work / "texts").exists()


@examples(60)
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), max_size=8))
def test_any_text_survives_the_way_into_a_file(tmp_path_factory, texts):
    path = spool(Store.create(tmp_path_factory.getbasetemp() / "memory"), texts, IngestOptions())
    assert [json.loads(line)["text"] for line in path.read_bytes().splitlines()] == texts


def test_what_is_not_a_sentence_is_rejected_as_from_a_file(tmp_path):
    texts = [*LINES, "", "two\x07lines", "x" * 5_001]
    report = augment_cli.ingest_corpus(texts=texts, store=tmp_path, max_rejects=1)
    assert report.reasons == {"control_character": 1, "empty": 1, "too_long": 1}
    assert augment_cli.open_store(tmp_path).read("rejects")["line"].to_pylist() == [4, 5, 6]


def test_columns_are_chosen_and_kept_and_missing_texts_rejected(tmp_path):
    frame = pandas.DataFrame({"body": [*LINES, None, float("nan")], "key": range(5), "share": [0.5] * 5})
    columns = {"text_column": "body", "id_column": "key", "keep_columns": ["share"]}
    report = augment_cli.ingest_corpus(texts=frame, store=tmp_path, max_rejects=1, **columns)
    assert report.reasons == {"missing": 2}
    corpus = augment_cli.open_store(tmp_path).read("corpus")
    assert corpus["id"].to_pylist() == ["0", "1", "2"] and corpus["share"].to_pylist() == ["0.5"] * 3


def test_run_and_recipes_take_them_and_go_on_with_the_same_only(tmp_path):
    store = augment_cli.run("crop", tmp_path / "store", texts=LINES, jobs=1)
    assert store.has("crop")
    assert augment_cli.run("crop", tmp_path / "store", texts=pa.array(LINES), jobs=1).rows == 3
    with pytest.raises(MixError, match=r"inputs\.files"):
        augment_cli.run("crop", tmp_path / "store", texts=LINES[1:], jobs=1)
    (tmp_path / "crop.toml").write_text('[[run]]\naugmentation = "crop"\n')
    result = augment_cli.run_recipe(str(tmp_path / "crop.toml"), tmp_path / "other", texts=LINES, jobs=1)
    assert result.stages_made == ["corpus", "crop"]


ODD = {
    "polars categories": polars.DataFrame({"text": polars.Series(LINES, dtype=polars.Categorical)}),
    "polars enum": polars.DataFrame({"text": polars.Series(LINES, dtype=polars.Enum(LINES))}),
    "Arrow dictionaries": pa.table(
        {"text": pa.chunked_array([pa.array([line]).dictionary_encode() for line in LINES])}
    ),
    "mixed column beside": pandas.DataFrame({"text": LINES, "mixed": [1, "x", [2]]}),
    "objects with one": [
        {"text": line, "mixed": mixed} for line, mixed in zip(LINES, (1, "x", []), strict=True)
    ],
}


@pytest.mark.parametrize("form", ODD)
def test_columns_of_any_kind_and_those_that_nobody_asked_for(tmp_path, form):
    assert augment_cli.ingest_corpus(texts=ODD[form], store=tmp_path / "store").kept == 3
    corpus = augment_cli.open_store(tmp_path / "store").read("corpus")
    assert corpus["text"].to_pylist() == LINES


def test_a_kept_column_of_categories_or_of_mixed_values(tmp_path):
    labels = polars.Series(["a", "b", "a"], dtype=polars.Categorical)
    mixed = pandas.DataFrame({"text": LINES, "label": ["a", 1, None]})
    for number, frame in enumerate((polars.DataFrame({"text": LINES, "label": labels}), mixed)):
        augment_cli.ingest_corpus(texts=frame, store=tmp_path / str(number), keep_columns=["label"])
        kept = augment_cli.open_store(tmp_path / str(number)).read("corpus")["label"].to_pylist()
        assert kept == [["a", "b", "a"], ["a", "1", None]][number]
    frame = polars.DataFrame({"text": ["The big dog sleeps."]}, schema={"text": polars.Categorical})
    assert augment_cli.augment(frame, "word-deletion")["reason"].to_pylist() == [None]


@pytest.mark.parametrize(
    "form",
    [
        list,
        lambda texts: pandas.Series(texts, dtype=object),
        lambda texts: [{"text": text} for text in texts],
    ],
)
def test_half_of_a_surrogate_pair_is_one_reject(tmp_path, form):
    report = augment_cli.ingest_corpus(texts=form(["a\ud800", *LINES]), store=tmp_path, max_rejects=1)
    assert (report.kept, report.reasons) == (3, {"not_utf8": 1})
    with pytest.raises(UsageError, match=r"texts\[1\] has half of a surrogate pair"):
        augment_cli.augment(["a", "b\ud800"], "word-deletion")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", r"one str; give a list of sentences"),
        ({"text": LINES}, "one dict"),
        ([1, 2], r"texts\[0\] is of int"),
        (pa.array([1, 2]), "is int64, not text"),
        (["a", 2], r"cannot be read as sentences \(texts\[1\] is of int\)"),
        (5, "cannot be read as sentences"),
        ([{"text": "a"}, "b"], "cannot be read as sentences"),
        ([{"body": "a"}, {"more": "b"}], r"has no column 'text', it has \['body', 'more'\]"),
        (
            pandas.DataFrame({"body": LINES, "mixed": [1, "x", None]}),
            "has no column 'text', it has \\['body', ",
        ),
        (polars.DataFrame({"body": LINES}), "has no column 'text', it has \\['body'\\]"),
    ],
)
def test_what_is_not_sentences_is_refused_and_leaves_no_store(tmp_path, texts, message):
    with pytest.raises(UsageError, match=message):
        augment_cli.ingest_corpus(texts=texts, store=tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "corpus", [LINES[0], LINES, [("Who? " * 100).strip()], polars.DataFrame({"text": LINES}), [["a"]]]
)
def test_sentences_in_the_place_of_files_are_told_where_they_belong(tmp_path, corpus):
    with pytest.raises(UsageError, match="texts=") as caught:
        augment_cli.ingest_corpus(corpus, tmp_path / "store")
    assert len(str(caught.value)) < 200
    with pytest.raises(UsageError, match="texts="):
        augment_cli.run("crop", tmp_path / "store", corpus=corpus)
    with pytest.raises(BadInputError, match="nowhere: no such file"):
        augment_cli.ingest_corpus("nowhere", tmp_path / "store")
    with pytest.raises(UsageError, match="not both"):
        augment_cli.ingest_corpus([], tmp_path / "store", texts=LINES)
    with pytest.raises(UsageError, match="nothing to read"):
        augment_cli.ingest_corpus(store=tmp_path / "store")
