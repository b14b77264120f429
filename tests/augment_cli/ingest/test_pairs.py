"""Your own pairs: columns of the input as text stages beside the corpus, holes allowed, nothing lost."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.ingest.options import make_given
from augment_cli.pack import choose
from augment_cli.process.reporter import Logged
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import verify, why_not_reused
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.score import ScoreOptions

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


def test_scores_take_them_like_any_stage(tmp_path):
    store = read(tmp_path / "store", written(tmp_path, "jsonl"), **OPTIONS, **PAIRS)
    with Session(store.path, Engine(1)) as session:
        session.score("good", ScoreOptions(("length_ratio",)))
        ratios = session.store.read("scores-good")["length_ratio"].to_pylist()
    assert ratios == [pytest.approx(17 / 12), pytest.approx(8 / 10), None, 1.0]


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
    with pytest.raises(UsageError, match=f"--negative-column {name}: is what another stage is called"):
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


def test_pairs_are_there_whatever_was_set_aside(tmp_path):
    (tmp_path / "in.csv").write_text("text,pos,neg\none,uno,no\n,due,no\n")
    with pytest.raises(IncompleteError):
        read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["pos"], negative_columns=["neg"])
    assert Store.open(tmp_path / "store").has("neg")


def test_a_kill_between_two_columns_leaves_the_second_to_be_seen(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("text,pos,neg\none,uno,no\n")

    def killed(store, column, role):
        if column == "neg":
            raise KeyboardInterrupt
        return make_given(store, column, role)

    monkeypatch.setattr("augment_cli.session.base.make_given", killed)
    with pytest.raises(KeyboardInterrupt):
        read(tmp_path / "store", tmp_path / "in.csv", positive_columns=["pos"], negative_columns=["neg"])
    store = Store.open(tmp_path / "store")
    assert "neg" in store.stages() and not store.has("neg")
    monkeypatch.setattr("augment_cli.session.base.make_given", make_given)
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
    rejects = Store.open(tmp_path / "store").read("rejects").to_pylist()
    assert [(row["reason"], row["raw"]) for row in rejects] == [("empty", b",lost")]
