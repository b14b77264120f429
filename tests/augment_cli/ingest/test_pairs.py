"""Pairs as columns, sentences in memory, and near duplicates: the corpus of a file with the same lines."""

import json
import random

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, IncompleteError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.ingest.checks import Duplicates, band_keys, similarity
from augment_cli.ingest.memory import spool
from augment_cli.ingest.options import make_given
from augment_cli.pack.options import choose
from augment_cli.process.reporter import Logged
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import verify, why_not_reused
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.text.surface import normalize
from tests.helpers.properties import examples

ROWS = [
    {"anchor": "a cat sleeps", "good": "the cat is asleep", "bad": "a dog barks", "worse": None},
    {"anchor": "rain falls", "good": "it rains", "bad": None, "worse": "the sun shines"},
    {"anchor": "she reads", "good": None, "bad": "she reads", "worse": "she\x07writes"},
    {"anchor": "he runs", "good": "he runs", "bad": "   ", "worse": "x" * 41},
]
OPTIONS = {"text_column": "anchor", "max_characters": 40, "part_rows": 3}
PAIRS = {"positive_columns": ["good"], "negative_columns": ["bad", "worse"]}


def written(folder, kind):
    path = folder / f"pairs.{kind}"
    if kind == "csv":
        lines = [[*ROWS[0]], *([value or "" for value in row.values()] for row in ROWS)]
        path.write_text("".join(",".join(line) + "\n" for line in lines))
    elif kind == "jsonl":
        some = [{key: value for key, value in row.items() if value is not None} for row in ROWS]
        path.write_text("".join(json.dumps(row) + "\n" for row in some))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def read(path, corpus, **options):
    with Session(path, Engine(1)) as session:
        session.ingest(None if corpus is None else [corpus], IngestOptions(**options))
        return session.store


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns_become_stages_and_holes_have_a_reason(tmp_path, kind):
    store = read(tmp_path / "store", written(tmp_path, kind), **OPTIONS, **PAIRS)
    assert store.read("corpus")["text"].to_pylist() == [row["anchor"] for row in ROWS]
    found = {
        name: list(zip(*(store.read(name)[key].to_pylist() for key in ("text", "reason")), strict=True))
        for name in ("good", "bad", "worse")
    }
    assert found["good"] == [*[(row["good"], None) for row in ROWS[:2]], (None, "missing"), ("he runs", None)]
    assert found["bad"] == [("a dog barks", None), (None, "missing"), (None, "same_text"), (None, "missing")]
    rejected = [(None, "control_character"), (None, "too_long")]
    assert found["worse"] == [(None, "missing"), ("the sun shines", None), *rejected]
    # What the input had stays in the corpus.
    assert store.read("corpus")["worse"].to_pylist()[2:] == [row["worse"] for row in ROWS[2:]]
    assert verify(store) == [] and why_not_reused(store, "bad") is None
    assert stats(store, "worse") | {"given": 1, "missing": 1, "too_long": 1} == stats(store, "worse")
    options = choose(store)
    assert (options.positives, options.negatives) == (("good",), ("bad", "worse"))
    with Session(store.path, Engine(1)) as session:
        session.pack(options)
    packed = Store.open(store.path).read("pack")
    assert packed.column_names == ["anchor", "positive", "negative", "negative_1"]
    assert [tuple(row.values()) for row in packed.to_pylist()] == [
        ("a cat sleeps", "the cat is asleep", "a dog barks", "a dog barks"),
        ("rain falls", "it rains", "the sun shines", "the sun shines"),
    ]


def test_an_interrupted_ingest_is_finished_by_the_same_command(tmp_path, command):
    corpus = written(tmp_path, "csv")
    store = read(tmp_path / "store", corpus, **OPTIONS, keep_columns=["good", "bad", "worse"])
    assert "good" not in store.stages()
    columns = ["--positive-column", "good", "--negative-column", "bad", "--negative-column", "worse"]
    limits = ["--max-characters", "40", "--part-rows", "3"]
    result = command("ingest", "--corpus", corpus, "--text-column", "anchor", *columns, *limits)
    assert result.returncode == 0, result.stderr
    made = {name: Store.open(store.path).stage(name).digest for name in ("good", "bad", "worse")}
    Store.open(store.path).part_path("bad", 1).unlink()
    # Without naming the corpus: its columns are in the store.
    again = read(store.path, None, **PAIRS)
    assert {name: again.stage(name).digest for name in made} == made and again.has("bad")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positive_columns": ["nothing"]}, "has no column 'nothing'.*--positive-column"),
        ({"positive_columns": ["good"], "negative_columns": ["good"]}, "has a column of this name already"),
        ({"positive_columns": ["good", "good"]}, "--positive-column good"),
        ({"negative_columns": ["line"]}, "--negative-column line: the corpus has a column of this name"),
        ({"positive_columns": ["good"], "deduplicate": True}, "--deduplicate: drops pairs whose anchor"),
        ({"positive_columns": ["good"], "split_sentences": True}, "--split-sentences: cuts anchors"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        read(tmp_path / "store", written(tmp_path, "csv"), text_column="anchor", **options)


@pytest.mark.parametrize("name", ["una", "tfidf", "vectors"])
def test_a_column_called_like_a_stage_is_refused_before_anything_is_read(tmp_path, name):
    (tmp_path / "in.csv").write_text(f"text,{name}\none,two\n")
    with pytest.raises(UsageError, match=f"--negative-column {name}: another stage has this name"):
        read(tmp_path / "store", tmp_path / "in.csv", negative_columns=[name])
    assert not (tmp_path / "store" / "manifest.json").exists()


def test_a_column_without_any_text_or_that_was_not_kept(tmp_path):
    (tmp_path / "in.csv").write_text("text,other\none,\ntwo,\n")
    with pytest.raises(UsageError, match="no row of the column 'other' holds a text"):
        read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["other"])
    (tmp_path / "in.csv").write_text("text,other\none,two\n")
    read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["other"])
    with pytest.raises(UsageError, match=r"keeps no column 'more' \(it has .*other\)"):
        read(tmp_path / "store", None, positive_columns=["more"])
    with pytest.raises(MixError, match=r'parameters\.kind = "positive", now "negative"'):
        read(tmp_path / "store", None, negative_columns=["other"])


def test_nothing_is_committed_where_one_column_of_pairs_is_empty(tmp_path):
    (tmp_path / "in.csv").write_text("text,pos,neg\none,uno,\ntwo,due,\n")
    columns = {"positive_columns": ["pos"], "negative_columns": ["neg"]}
    with pytest.raises(UsageError, match="no row of the column 'neg' holds a text, and nothing was made"):
        read(tmp_path / "store", tmp_path / "in.csv", **columns)
    assert not (tmp_path / "store" / "manifest.json").exists()
    # So it is with a store that has the columns already, and with what is appended to it.
    store = read(tmp_path / "store", tmp_path / "in.csv", keep_columns=["pos", "neg"])
    with pytest.raises(UsageError, match="no row of the column 'neg'"):
        read(store.path, None, **columns)
    (tmp_path / "more.csv").write_text("text,pos,neg\nthree,tre,no\n")
    with Session(store.path, Engine(1)) as session, pytest.raises(UsageError, match="column 'more'"):
        session.append([tmp_path / "more.csv"], IngestOptions(positive_columns=["pos", "more"]))
    assert Store.open(store.path).stages() == ["rejects", "corpus"] and store.rows == 2


def test_rows_without_a_text_are_counted(tmp_path, caplog):
    (tmp_path / "in.csv").write_text('text,pos\none,uno\ntwo,\nthree,tr\x07e\nfour,"quat\ntro"\n')
    with Session(tmp_path / "store", Engine(1), Logged()) as session, caplog.at_level("INFO"):
        session.ingest([tmp_path / "in.csv"], IngestOptions(positive_columns=["pos"]))
    assert "pos: 2 of 4 rows have a text; without one: 1 control_character, 1 missing" in caplog.messages
    assert "1 texts of pos had line breaks, each made one space; see line_breaks=" in caplog.messages


def test_a_kill_between_two_columns_leaves_the_second_to_be_seen(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("text,pos,neg\none,uno,no\n")

    def killed(store, column, role):
        if column == "neg":
            raise KeyboardInterrupt
        return make_given(store, column, role)

    monkeypatch.setattr("augment_cli.ingest.options.make_given", killed)
    with pytest.raises(KeyboardInterrupt):
        read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["pos"], negative_columns=["neg"])
    store = Store.open(tmp_path / "store")
    assert "neg" in store.stages() and not store.has("neg")
    monkeypatch.setattr("augment_cli.ingest.options.make_given", make_given)
    (tmp_path / "more.csv").write_text("text,pos,neg\ntwo,due,non\n")
    with Session(store.path, Engine(1)) as session:
        session.append([tmp_path / "more.csv"])
        assert session.store.read("neg")["text"].to_pylist() == ["no", "non"]


@pytest.mark.parametrize(
    ("breaks", "text"), [("join", "It is sent by post."), ("keep", "It is sent\nby post."), ("reject", None)]
)
def test_line_breaks_in_pairs(tmp_path, breaks, text):
    (tmp_path / "in.csv").write_text('text,pos\nWhere is it?,"It is sent\nby post."\nFee?,Three euros.\n')
    store = read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["pos"], line_breaks=breaks)
    assert store.read("pos")["text"].to_pylist() == [text, "Three euros."]
    assert stats(store, "pos").get("line_breaks_joined") == (1 if breaks == "join" else None)
    assert verify(store) == []


def test_a_bad_anchor_takes_its_pair_along_and_is_counted(tmp_path):
    lines = ["anchor,good", *(f"sentence {number},other {number}" for number in range(9)), ",lost"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(IncompleteError):
        read(tmp_path / "store", tmp_path / "in.csv", text_column="anchor", positive_columns=["good"])
    store = Store.open(tmp_path / "store")
    rejects = store.read("rejects").to_pylist()
    assert [(row["reason"], row["raw"]) for row in rejects] == [("empty", b",lost")] and store.has("good")


LINES = ["The river flows.", "Ein Boot treibt über den Fluss.", "今天下雨。"]
FORMS = {
    "list": lambda lines: list(lines),
    "generator": lambda lines: (line for line in lines),
    "list of objects": lambda lines: [{"text": line} for line in lines],
    "NumPy array": np.array,
    "Arrow array": pa.array,
    "Arrow table": lambda lines: pa.table({"text": lines, "other": range(len(lines))}),
    "Arrow batches": lambda lines: pa.table({"text": lines}).to_reader(),
    "polars frame": lambda lines: polars.DataFrame({"text": lines}),
    "polars series": lambda lines: polars.Series("body", lines),
    "pandas frame": lambda lines: pandas.DataFrame({"text": lines}, index=range(5, 5 + len(lines))),
    "pandas series": lambda lines: pandas.Series(lines, dtype=object),
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


@examples(25)
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), max_size=8))
def test_any_text_survives_the_way_into_a_file(tmp_path_factory, texts):
    path = spool(Store.create(tmp_path_factory.getbasetemp() / "memory"), texts, IngestOptions())
    assert [json.loads(line)["text"] for line in path.read_bytes().splitlines()] == texts


def test_columns_are_chosen_and_kept_and_missing_texts_rejected(tmp_path):
    frame = pandas.DataFrame({"body": [*LINES, None, float("nan")], "key": range(5), "share": [0.5] * 5})
    columns = {"text_column": "body", "id_column": "key", "keep_columns": ["share"]}
    report = augment_cli.ingest_corpus(texts=frame, store=tmp_path, max_rejects=1, **columns)
    assert report.reasons == {"missing": 2}
    corpus = augment_cli.open_store(tmp_path).read("corpus")
    assert corpus["id"].to_pylist() == ["0", "1", "2"] and corpus["share"].to_pylist() == ["0.5"] * 3


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


@pytest.mark.parametrize("form", ["list", "list of objects", "pandas series"])
def test_half_of_a_surrogate_pair_is_one_reject(tmp_path, form):
    report = augment_cli.ingest_corpus(texts=FORMS[form](["a\ud800", *LINES]), store=tmp_path, max_rejects=1)
    assert (report.kept, report.reasons) == (3, {"not_utf8": 1})
    with pytest.raises(UsageError, match=r"texts\[1\] has half of a surrogate pair"):
        augment_cli.augment(["a", "b\ud800"], "word-deletion")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", r"one str; give a list of sentences"),
        ({"text": LINES}, "one dict"),
        (pa.array([1, 2]), "is int64, not text"),
        (["a", 2], r"cannot be read as sentences \(texts\[1\] is of int\)"),
        (5, "cannot be read as sentences"),
        ([{"text": "a"}, "b"], "cannot be read as sentences"),
        ([{"body": "a"}, {"more": "b"}], r"has no column 'text', it has \['body', 'more'\]"),
        (pandas.DataFrame({"body": LINES, "mixed": [1, "x", None]}), r"no column 'text', it has \['body', "),
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


REPEATS = [
    "The old bridge crosses the river below the town hall.",
    "A committee of seven members runs the local school.",
    "The old bridge crosses the river below the town hall!",
    "The old bridge crosses the river below the town halls.",
    "A committee of seven members runs the local school.",
    "Nobody has seen the lighthouse keeper since Monday.",
]


def test_near_ones_go_to_the_rejects_with_the_row_they_repeat(read_bytes):
    data = "\n".join(REPEATS).encode()
    result = read_bytes(data, deduplicate="near")
    assert result.texts == [REPEATS[0], REPEATS[1], REPEATS[5]]
    found = [(row["line"], row["reason"], row["repeats"]) for row in result.rejects]
    assert found == [(3, "near_duplicate", 0), (4, "near_duplicate", 0), (5, "duplicate", 1)]
    assert result.report.duplicates == 3
    result.report.check(0.0)  # repeats are no faults
    assert read_bytes(data, deduplicate="near", strict=True).texts == result.texts
    exact = read_bytes(data, deduplicate="exact")
    assert exact.reasons == [(5, "duplicate")] and "repeats" not in exact.rejects[0]
    assert exact.store.stage("corpus").settings["parameters"]["deduplicate"] is True
    looser = read_bytes(data, deduplicate="near", near_similarity=1.0)
    assert looser.reasons == [(3, "near_duplicate"), (5, "duplicate")]


def test_on_the_command_line(command, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(REPEATS))
    for name, arguments in {"plain": [], "near": ["near"], "exact": ["exact"]}.items():
        result = command("ingest", "--corpus", "in.txt", "--store", name, "--deduplicate", *arguments)
        assert result.returncode == 0, result.stderr
        assert Store.open(tmp_path / name).rows == (3 if name == "near" else 5)
    assert command("ingest", "--corpus", "in.txt", "--deduplicate", "fuzzy", "--store", "no").returncode == 2
    for options in ({"deduplicate": "fuzzy"}, {"near_similarity": 0.0}, {"near_similarity": 1.5}):
        with pytest.raises(UsageError, match=r"--deduplicate fuzzy: choose|--near-similarity"):
            IngestOptions(**options)


def slow(texts, threshold):
    """Every text against all kept ones before it, which share a band with it: no index, no arrays."""
    words = normalize(pa.array(texts)).to_pylist()
    kept, first, result = [], [{} for _ in range(8)], []
    for text, plain in zip(texts, words, strict=True):
        keys = band_keys(pa.array([plain]))[0].tolist()
        equal = [number for number, (other, _) in enumerate(kept) if other == text]
        found = sorted({band[key] for band, key in zip(first, keys, strict=True) if key in band})
        near = equal or [number for number in found if similarity(plain, kept[number][1]) >= threshold]
        result.append(near[0] if near else -1)
        if not near:
            for band, key in zip(first, keys, strict=True):
                band.setdefault(key, len(kept))
            kept.append((text, plain))
    return result


@examples(15)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from([0.3, 0.6, 0.9]),
    st.lists(st.integers(1, 9), max_size=6),
)
def test_the_same_as_one_after_the_other_however_they_come(rng, threshold, cuts):
    words = ["river", "bridge", "Öl", "學校", "a", "of", "seven", "🙂"]
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(16)]
    index, found, start = Duplicates(threshold), [], 0
    for cut in [*cuts, len(texts)]:
        found += index.add(pa.array(texts[start : start + cut], pa.string()))[0].tolist()
        start += cut
    assert found == slow(texts, threshold)


def test_minhash_finds_nearly_all_that_are_near_and_keys_agree_as_often_as_they_should():
    rng = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz     "
    pairs = []
    while len(pairs) < 300:
        text = "".join(rng.choices(letters, k=100))
        place = rng.randrange(90)
        pairs.append((text, text[:place] + "".join(rng.choices(letters, k=3)) + text[place + 3 :]))
    one, other = (normalize(pa.array(column)) for column in zip(*pairs, strict=True))
    values = np.array([similarity(*pair) for pair in zip(one.to_pylist(), other.to_pylist(), strict=True)])
    assert 0.8 < values.mean() < 0.95
    agree = band_keys(one) == band_keys(other)
    expected = 1 - (1 - values**4) ** 8
    assert abs(agree.any(axis=1).mean() - expected.mean()) < 0.03
    assert abs(agree.mean() - (values**4).mean()) < 0.05
    # Texts with nothing in common agree nowhere.
    assert not (band_keys(one) == band_keys(other.take(pa.array(np.roll(np.arange(300), 1))))).any()
