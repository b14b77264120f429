"""`pack`: the wide table, what becomes of unchanged rows, splits, and files for other trainers."""

import csv
import errno
import json
import os

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.pack import PackOptions, cost_of, cost_of_filters, pack
from augment_cli.pack.export import export, reserved, training_lines
from augment_cli.pack.options import choose
from augment_cli.reports.choosing import choose_rows
from augment_cli.reports.soundness import goes_by_part, verify, why_not_reused
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.conditions import meets, parse_where
from augment_cli.store.store import Store
from tests.helpers.made_stores import add_texts


@pytest.fixture
def mixed(store):
    with store.lock():
        add_texts(store, "uda", lambda row, text: text.upper() if row % 3 else None)
    return store


def packed(store, options, name="pack", jobs=1):
    with store.lock():
        pack(store, options, name, Engine(jobs))
    return store.read(name).to_pylist()


def test_by_default_everything_finished_by_kind(mixed):
    options = choose(mixed)
    assert options == PackOptions(("uda",), ("una", "una.1"), "drop")
    rows = packed(mixed, options)
    originals, una, una_1 = (mixed.read(name)["text"].to_pylist() for name in ("corpus", "una", "una.1"))
    assert [list(row.values()) for row in rows] == [
        [text, text.upper(), una[row] or una_1[row], una_1[row] or una[row]]
        for row, text in enumerate(originals)
        if row % 3 and (una[row] or una_1[row])
    ]
    assert [*rows[0]] == ["anchor", "positive", "negative", "negative_1"]
    assert verify(mixed) == [] and why_not_reused(mixed, "pack") is None


def test_several_positives_give_rows_several_negatives_columns(mixed):
    rows = packed(mixed, choose(mixed, ["corpus", "uda"], ["una"]))
    originals = mixed.read("corpus")["text"].to_pylist()
    own = [row for row in rows if row["positive"] == row["anchor"]]
    assert [row["anchor"] for row in own] == originals
    assert len(rows) == 60 + 40
    statistics = [part.statistics for part in mixed.stage("pack").parts.values()]
    assert sum(part["dropped"] for part in statistics) == 20
    # A row group for each positive is read as any other.
    assert all(row in rows for seed in range(5) for row in choose_rows(mixed, "pack", 10, seed))
    assert choose_rows(mixed, "pack", 1_000) == rows


def test_progress_counts_sentences_whatever_is_written_of_each(mixed):
    for number, options in enumerate(
        [PackOptions(("corpus", "uda"), ("una",)), PackOptions(("uda",), ("una",), side="test", split=0.5)]
    ):
        counted = []
        with mixed.lock():
            pack(mixed, options, f"pack-{number}", Engine(1), counted.append)
        assert sum(counted) == mixed.rows != mixed.read(f"pack-{number}").num_rows


def test_any_jobs_and_resume(mixed):
    options = choose(mixed)
    packed(mixed, options)
    packed(mixed, options, "pack-2", jobs=2)
    assert mixed.stage("pack").digest == mixed.stage("pack-2").digest
    mixed.part_path("pack", 1).unlink()
    packed(mixed, options)
    assert mixed.stage("pack").digest == mixed.stage("pack-2").digest
    with pytest.raises(MixError, match=r'parameters\.unchanged = "drop", now "anchor"'):
        packed(mixed, PackOptions(options.positives, options.negatives, "anchor"))


@pytest.fixture
def gappy(mixed):
    """Two stages of negatives beside each other: `una` of even rows and `negation` of every fourth."""
    with mixed.lock():
        for name, step in (("antonym", 2), ("negation", 4)):
            add_texts(mixed, name, lambda row, text, n=name, s=step: None if row % s else f"{n} {text}")
    return mixed


def test_a_missing_negative_is_filled_by_another_of_the_row_and_the_cost_is_said(gappy):
    rows = packed(gappy, choose(gappy, ["corpus"], ["negation", "antonym"]))
    texts = gappy.read("corpus")["text"].to_pylist()
    assert [row["anchor"] for row in rows] == texts[::2]
    for number, row in enumerate(rows):
        kinds = [row["negative"].split()[0], row["negative_1"].split()[0]]
        assert kinds == (["antonym"] * 2 if number % 2 else ["negation", "antonym"])
    assert cost_of(gappy, "pack") == (
        "pack: 30 rows of 60 sentences; unchanged, and so without a text of their own: negation 45, antonym "
        "30; 30 rows dropped. Where a negative is missing another of the same sentence stands in; "
        "--require-all keeps the 15 rows that have all"
    )


def test_all_negatives_are_required_only_when_told(gappy, command):
    rows = packed(gappy, choose(gappy, ["corpus"], ["negation", "antonym"], require_all=True))
    assert [row["anchor"] for row in rows] == gappy.read("corpus")["text"].to_pylist()[::4]
    # The settings are those of an earlier version, which required all.
    assert gappy.stage("pack").settings["parameters"].keys() == {"positives", "negatives", "unchanged"}
    result = command("pack", "--store", gappy.path, "--negative", "negation", "--name", "one")
    assert result.returncode == 0 and "one: 10 rows of 60 sentences; unchanged" in result.stderr


def test_a_negative_given_as_a_positive_is_refused(gappy):
    with pytest.raises(UsageError, match=r"--positive una: .* give it as --negative una"):
        choose(gappy, ["una"], [])
    with pytest.raises(UsageError, match="cannot be its own negative"):
        choose(gappy, ["uda"], ["corpus"])


def test_a_split_keeps_equal_sentences_together_and_is_whole(command, tmp_path):
    lines = [f"the river number {n % 40} flows by" for n in range(80)]
    (tmp_path / "in.txt").write_text("\n".join(lines))
    assert command("ingest", "--corpus", "in.txt", "--part-rows", "30").returncode == 0
    assert command("una", "--radius", "4").returncode == 0
    arguments = ["pack", "--split", "0.25", "--shuffle", "--carry", "row_id", "--out", "pairs.csv"]
    result = command(*arguments, "--jobs", "1")
    assert result.returncode == 0, result.stderr
    store = Store.open(tmp_path / "store")
    train, test = (store.read(f"pack-{side}").to_pylist() for side in ("train", "test"))
    assert {row["anchor"] for row in train}.isdisjoint({row["anchor"] for row in test})
    assert sorted(row["row_id"] for row in train + test) == list(range(80))
    assert 5 <= len(test) <= 40
    ids = [row["row_id"] for row in train]
    assert ids != sorted(ids)
    for side, rows in (("train", train), ("test", test)):
        with (tmp_path / f"pairs-{side}.csv").open(newline="") as file:
            read = list(csv.DictReader(file))
        assert read == [{key: str(value) for key, value in row.items()} for row in rows]
    command("pack", "--split", "0.25", "--shuffle", "--carry", "row_id", "--name", "again", "--jobs", "2")
    store = Store.open(tmp_path / "store")
    assert store.stage("again-train").digest == store.stage("pack-train").digest


def test_an_export_follows_no_link_and_leaves_nothing_beside(mixed, command):
    folder = mixed.path.parent
    (folder / "precious.txt").write_text("mine")
    (folder / ".pairs.jsonl.writing").symlink_to(folder / "precious.txt")
    before = {path.name for path in folder.iterdir()}
    assert command("pack", "--store", mixed.path, "--out", "pairs.jsonl").returncode == 0
    assert (folder / "precious.txt").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == before | {"pairs.jsonl"}


@pytest.mark.parametrize("options", [[], ["--split", "0.25"]])
def test_a_second_pack_to_one_file_is_refused(mixed, command, options):
    """Of another store, say; one store's lock keeps its own writers apart."""
    folder = mixed.path.parent
    target = folder / ("pairs-test.jsonl" if options else "pairs.jsonl")
    before = set(folder.iterdir())
    with reserved([target]):
        result = command("pack", "--store", mixed.path, "--out", folder / "pairs.jsonl", *options)
    assert result.returncode == 5 and len(result.stderr.splitlines()) == 1
    assert f"{target}: another run (process {os.getpid()}) writes it" in result.stderr
    assert set(folder.iterdir()) == before and "pack" not in Store.open(mixed.path).stages()


def test_jsonl_out(mixed, command):
    result = command("pack", "--store", mixed.path, "--out", "pairs.jsonl")
    assert result.returncode == 0, result.stderr
    lines = (mixed.path.parent / "pairs.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == Store.open(mixed.path).read("pack").to_pylist()
    assert command("pack", "--store", mixed.path, "--out", "pairs.xlsx").returncode == 2
    assert command("pack", "--store", mixed.path, "--out", "nowhere/pairs.csv").returncode == 2


def test_what_cannot_be_packed_is_refused(store):
    assert choose(store) == PackOptions(("corpus",), ("una", "una.1"))  # the anchor is its own positive
    wrong = [{"positives": ["nowhere"]}, {"negatives": ["terms"]}, {"negatives": []}, {"unchanged": "keep"}]
    for options in [*wrong, {"split": 1.0}, {"split": -0.5}]:
        with pytest.raises(UsageError):
            choose(store, **options)


# A sentence with two positives in rows of their own; a negative that is its row's positive; one that is the
# other row's, in other letters; and signs that count.
CONTRADICTORY = [
    ("Who are you?", "We are a bank.", "We are a bank."),
    ("What is it?", "A fee.", "A tree."),
    ("what is  it?", "Money.", "a fee."),
    ("Which one?", "C++", "C#"),
]


@pytest.mark.parametrize("rows", [CONTRADICTORY, CONTRADICTORY[:2] + CONTRADICTORY[3:]])
@pytest.mark.parametrize("layout", ["n-tuple", "triplet", "labeled-pair"])
def test_no_text_is_both_a_positive_and_a_negative_of_a_sentence(tmp_path, rows, layout):
    lines = ["query,good,bad", *map(",".join, rows)]
    (tmp_path / "in.csv").write_text("\n".join(lines))
    options = IngestOptions("query", positive_columns=("good",), negative_columns=("bad",), part_rows=2)
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.csv"], options)
        session.pack(choose(session.store, layout=layout))
        store = session.store
    packed = [tuple(row.values()) for row in store.read("pack").to_pylist()]
    left = [row for row in rows if row[0] in ("What is it?", "Which one?")]
    if layout == "labeled-pair":
        assert sorted(packed) == sorted(
            [(row[0], row[1], 1) for row in rows] + [(row[0], row[2], 0) for row in left]
        )
    else:
        assert packed == left
    assert f"a positive of the same sentence: bad {len(rows) - 2}" in cost_of(store, "pack")
    assert goes_by_part(store, "pack") == (len(rows) == 3) and verify(store) == []
    assert ("no_duplicates" in training_lines(store, "pack")) == (len(rows) == 4 and layout != "labeled-pair")


def test_the_anchor_does_not_stand_on_both_sides(store):
    with store.lock():
        add_texts(store, "uda", lambda row, text: text.upper() if row else None)
        add_texts(store, "antonym", lambda row, text: text + " not" if row else None)
    assert len(packed(store, choose(store, ["uda"], ["antonym"], "anchor"))) == 59


def test_a_kept_column_that_pack_has_itself_is_not_offered(tmp_path):
    (tmp_path / "in.csv").write_text("text,label,topic\nWho is it?,1,a\n")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.csv"], IngestOptions("text", keep_columns=("label", "topic")))
        session.augment(make_run("random-swap"))
        for name, words in (("label", "pack or a trainer has a column"), ("nothing", "line, topic to")):
            with pytest.raises(UsageError, match=words):
                choose(session.store, carry=[name], labels="kind")


@pytest.mark.parametrize("where", ["una:reason == null", "una:reason != null"])
def test_null_is_asked_for_by_name(store, where):
    column = store.read("una")["reason"]
    options = choose(store, ["corpus"], ["una"], where=[where])
    changed = column.null_count if "==" in where else 0
    assert cost_of_filters(store, options)["rows"] == changed
    assert meets(store, "una", parse_where("reason != null")).sum() == 60 - column.null_count
    assert meets(store, "una", parse_where("replaced == null")).sum() == 0
    with pytest.raises(UsageError, match="neither more nor less"):
        parse_where("reason < null")
    assert parse_where("reason == 'null'")[0].value == "null"


def test_an_export_that_fails_leaves_nothing(mixed, command, monkeypatch):
    assert command("pack", "--store", mixed.path).returncode == 0
    store, before = Store.open(mixed.path), set(mixed.path.parent.iterdir())

    def fail(path):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        export(store, "pack", mixed.path.parent / "pairs.csv")
    assert set(mixed.path.parent.iterdir()) == before
