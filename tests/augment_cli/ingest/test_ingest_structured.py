"""jsonl, csv, tsv and Parquet: where the text is, ids, and every way in which a row can be wrong."""

import csv
import io
import json
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, IncompleteError, UsageError
from augment_cli.ingest import ingest
from augment_cli.reports.soundness import verify
from augment_cli.session import Session


def json_line(value) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "cut', "broken_json"),
        (b"[" * 100_000, "broken_json"),
        (b'{"text": NaN}', "wrong_type"),
        (b'{"text": 5}', "wrong_type"),
        (b'{"text": null}', "missing"),
        (b'"a string"', "wrong_type"),
        (b'{"body": "x"}', "no_text_field"),
        (b'{"text": "caf\xe9"}', "not_utf8"),
        (b'{"text": "\\ud800"}', "not_utf8"),
        (b"", "empty"),
        (b'{"text": "a\\u0000b"}', "control_character"),
        ('{"text": "utf-16"}'.encode("utf-16-le"), "broken_json"),
        (b'{"n": ' + b"9" * 5000 + b"}", "broken_json"),
    ],
)
def test_bad_json_lines_keep_their_bytes(read_bytes, line, reason):
    result = read_bytes(json_line({"text": "first"}) + line + b"\n" + json_line({"text": "last"}), "a.jsonl")
    assert result.texts == ["first", "last"]
    assert result.rejects == [{"source": "a.jsonl", "line": 2, "reason": reason, "raw": line[: 64 << 10]}]


def test_json_columns_and_ids(read_bytes):
    data = (
        json_line({"body": "Grüße", "key": 7})
        + json_line({"body": "zwei", "key": "b"})
        + json_line({"body": "drei"})
        + json_line({"body": "vier", "key": True})
        + b'{"body": "f\\u00fcnf", "key": "\\udc00"}\n'
    )
    result = read_bytes(data, "a.ndjson", text_column="body", id_column="key")
    assert result.texts == ["Grüße", "zwei"]
    assert result.store.read("corpus")["id"].to_pylist() == ["7", "b"]
    assert result.reasons == [(3, "wrong_type"), (4, "wrong_type"), (5, "not_utf8")]


def table(rows, separator=",", **style) -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, **style).writerows(rows)
    return out.getvalue().encode()


ROWS = [["id", "text", "x"], ["1", 'She said "no", twice', "a"], ["2", "plain", ""], ["3", "Grüße, alle", ""]]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_tables(read_bytes, name, separator, quoting, end):
    result = read_bytes(table(ROWS, separator, quoting=quoting, lineterminator=end), name, id_column="id")
    assert result.texts == [row[1] for row in ROWS[1:]]
    assert result.store.read("corpus")["id"].to_pylist() == ["1", "2", "3"]
    assert result.rejects == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"2,a text, with a comma", "field_count"),
        (b"2", "field_count"),
        (b'2,"a"b', "broken_row"),
        (b"2,caf\xe9", "not_utf8"),
        (b"2,", "empty"),
        (b"", "empty"),
        (b"2,a\x00b", "control_character"),
        (b"2," + b"x" * 140_000, "too_long"),
    ],
)
def test_bad_rows_keep_their_bytes(read_bytes, line, reason):
    result = read_bytes(b"id,text\n1,first\n" + line + b"\n3,last\n", "a.csv")
    assert result.texts == ["first", "last"]
    assert result.rejects == [{"source": "a.csv", "line": 3, "reason": reason, "raw": line[: 64 << 10]}]


def test_what_helps_against_separators_in_fields_is_said(read_bytes):
    result = read_bytes(b"text\nHello, there\nBye\n", "a.csv")
    with pytest.raises(IncompleteError, match=r"1 field_count.*another is named with --separator"):
        result.report.check(0.01)


def test_a_quotation_mark_never_closed_is_damage(read_bytes):
    result = read_bytes(b'text\nfirst\n"open\nswallowed\nand more\n', "a.csv")
    assert result.texts == ["first"]
    assert result.reasons == [(3, "unclosed_quote")]
    with pytest.raises(IncompleteError, match=r"unclosed_quote.*--no-quoting"):
        result.report.check(1.0)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_line_breaks_in_fields_are_joined_kept_or_a_reason(read_bytes, name):
    texts = ["One.", "Two \r\n\n lines.\n", "\n", "a\rb"]
    data = {
        "a.csv": table([["text"], *([text] for text in texts)]),
        "a.jsonl": b"".join(json_line({"text": text}) for text in texts),
        "a.parquet": parquet({"text": texts}),
    }[name]
    joined = read_bytes(data, name)
    assert joined.texts == ["One.", "Two lines.", "a b"] and joined.report.joined == 2
    assert [reason for _, reason in joined.reasons] == ["empty"]
    again = read_bytes(data, name, part_rows=1)
    assert again.report.joined == 2
    kept = read_bytes(data, name, line_breaks="keep")
    assert kept.texts == [texts[0], texts[1], texts[3]] and kept.report.joined == 0
    assert read_bytes(data, name, line_breaks="reject").texts == ["One."]


def test_a_corpus_from_before_line_breaks_were_joined_stays_as_it_is(read_bytes, tmp_path):
    older = read_bytes(b'text\n"two\nlines"\none\n', "a.csv", line_breaks="reject")
    assert "line_breaks" not in older.store.stage("corpus").settings["parameters"]
    file = older.store.path.parent / "a.csv"
    assert ingest(older.store, [file]).reasons == {"control_character": 1}
    (tmp_path / "more.csv").write_text('text\n"three\nlines"\n')
    with Session(older.store.path, Engine(1)) as session:
        session.append([tmp_path / "more.csv"])
        assert session.store.read("corpus")["text"].to_pylist() == ["one", "three lines"]
        assert verify(session.store) == []


@pytest.mark.parametrize(("options", "option"), [({}, "--text-column"), ({"id_column": "x"}, "--id-column")])
def test_a_column_that_is_not_there_is_named_with_those_that_are(read_bytes, options, option):
    header = b"key,body\n" if not options else b"text,body\n"
    with pytest.raises(UsageError, match=rf"it has \['\w+', 'body'\]; name one with {option}"):
        read_bytes(header + b"a,b\n", "a.csv", **options)


def parquet(columns, **options) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


def test_parquet_columns_nulls_and_ids(read_bytes):
    data = parquet({"body": ["one", None, "two", "", "three"], "key": [5, 6, 7, 8, None]})
    result = read_bytes(data, "a.parquet", text_column="body", id_column="key")
    assert result.texts == ["one", "two"]
    assert result.store.read("corpus")["id"].to_pylist() == ["5", "7"]
    assert result.reasons == [(2, "missing"), (4, "empty"), (5, "wrong_type")]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["one", "two"], pa.large_string()),
        pa.array(["one", "two"], pa.string_view()),
        pa.array(["one", "two"]).dictionary_encode(),
        pa.chunked_array([["one"], ["two"]]),
    ],
)
def test_parquet_text_of_every_kind(read_bytes, column):
    assert read_bytes(parquet({"text": column}), "a.parquet").texts == ["one", "two"]


@pytest.mark.parametrize("name", ["text", "id"])
def test_parquet_bytes_that_are_no_utf8(read_bytes, name):
    bad = pa.array([b"caf\xe9", b"fine"]).view(pa.string())
    good = pa.array(["a", "b"])
    data = parquet({"text": bad if name == "text" else good, "id": bad if name == "id" else good})
    result = read_bytes(data, "a.parquet", id_column="id")
    assert result.reasons == [(1, "not_utf8")]
    assert len(result.texts) == 1


def test_damaged_parquet_keeps_the_rows_before(read_bytes):
    texts = [f"sentence {number * number}" for number in range(30_000)]
    data = bytearray(
        parquet({"text": texts}, row_group_size=10_000, write_page_checksum=True, use_dictionary=False)
    )
    data[len(data) // 2] ^= 1
    result = read_bytes(bytes(data), "a.parquet")
    assert result.texts == texts[: len(result.texts)]
    assert 0 < len(result.texts) < 20_000
    assert result.reasons == [(len(result.texts) + 1, "damaged_file")]


@pytest.mark.parametrize(
    "data",
    [
        b"PAR1",
        b"no parquet at all",
        pickle.dumps({"text": ["a"]}),
        b"PAR1" + b"\0" * 100 + (1 << 31).to_bytes(4, "little") + b"PAR1",
    ],
)
def test_what_is_no_parquet_is_refused_and_never_unpickled(read_bytes, data, monkeypatch):
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("unpickled"))
    monkeypatch.setattr(pickle, "load", lambda *_: pytest.fail("unpickled"))
    with pytest.raises(BadInputError, match="damaged_file"):
        read_bytes(data, "a.parquet")


def test_format_overrides_the_ending(read_bytes):
    assert read_bytes(b'{"text": "one"}\n', "a.txt", format="jsonl").texts == ["one"]
    assert read_bytes(b'{"text": "one"}\n', "a.jsonl", format="text").texts == ['{"text": "one"}']


def further_columns(kind: str) -> bytes:
    rows = [("one", "a", 1), ("two", None, 2), ("three", "c", 3)]
    if kind == "jsonl":
        records = [{"text": text, "label": label, "score": score} for text, label, score in rows]
        return b"".join(json_line({key: value for key, value in row.items() if value}) for row in records)
    if kind == "csv":
        return b"text,score,label\n" + b"".join(f"{t},{s},{label or ''}\n".encode() for t, label, s in rows)
    return parquet(dict(zip(("text", "label", "score"), map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_further_columns_are_kept_as_strings(read_bytes, kind):
    data = further_columns(kind)
    result = read_bytes(data, f"a.{kind}", keep_columns=("label", "score"))
    corpus = result.store.read("corpus")
    assert corpus.column_names == ["row_id", "text", "source", "line", "label", "score"]
    assert corpus["label"].to_pylist() == ["a", "" if kind == "csv" else None, "c"]
    assert corpus["score"].to_pylist() == ["1", "2", "3"]
    split = read_bytes(data, f"a.{kind}", keep_columns=("score",), split_sentences=True)
    assert split.store.read("corpus")["score"].to_pylist() == ["1", "2", "3"]
    plain = read_bytes(data, f"a.{kind}")
    assert "keep_columns" not in plain.store.stage("corpus").settings["parameters"]


@pytest.mark.parametrize("name", ["text", "row_id", "id"])
def test_a_column_to_keep_must_not_hide_one_of_the_corpus(read_bytes, name):
    with pytest.raises(UsageError, match=f"--keep-column {name}"):
        read_bytes(b"text\nx\n", "a.csv", keep_columns=(name,))


def test_a_column_to_keep_must_be_there_and_be_utf8(read_bytes):
    with pytest.raises(UsageError, match="--keep-column"):
        read_bytes(b"text\nx\n", "a.csv", keep_columns=("label",))
    with pytest.raises(UsageError, match="--keep-column"):
        read_bytes(b"x\n", "a.txt", keep_columns=("label",))
    for name, data in {
        "a.csv": b"text,label\nx,\xff\ny,z\n",
        "a.jsonl": b'{"text": "x", "label": "\\ud800"}\n{"text": "y"}\n',
    }.items():
        [(_, reason)] = read_bytes(data, name, keep_columns=("label",)).reasons
        assert reason == "not_utf8"


ODD_COLUMNS = {
    "binary view": pa.array([b"abcd"], pa.binary_view()),
    "fixed-size binary": pa.array([b"abcd"], pa.binary(4)),
    "duration": pa.array([7], pa.duration("ns")),
    "list": pa.array([[1]], pa.list_(pa.int64())),
}


@pytest.mark.parametrize("kind", ODD_COLUMNS)
def test_columns_that_are_not_kept_are_refused(read_bytes, kind):
    data = parquet({"text": ["a heron"], "label": ODD_COLUMNS[kind]})
    with pytest.raises(UsageError, match=r"column 'label' is .*; --keep-column keeps text, numbers, dates"):
        read_bytes(data, "a.parquet", keep_columns=("label",))


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (pa.array([86_400_000], pa.date64()), "1970-01-02"),
        (pa.array([1], pa.time64("ns")), "00:00:00.000000001"),
        (pa.array([1.5], pa.float32()), "1.5"),
        (pa.array(["x"], pa.dictionary(pa.int8(), pa.string())), "x"),
    ],
)
def test_dates_and_times_of_every_kind_are_kept(read_bytes, values, kept):
    data = parquet({"text": ["a heron"], "label": values})
    result = read_bytes(data, "a.parquet", keep_columns=("label",))
    assert result.store.read("corpus")["label"].to_pylist() == [kept]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("us")], ids=str)
def test_a_date_after_the_year_9999_makes_a_reject(read_bytes, kind):
    late = {pa.date32(): 3_000_000, pa.date64(): 3_000_000 * 86_400_000}.get(kind, 2**62)
    labels = pa.array([late, 0], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    data = parquet({"text": ["a heron", "a stork"], "label": labels})
    result = read_bytes(data, "a.parquet", keep_columns=("label",))
    assert result.texts == ["a stork"] and result.reasons == [(1, "wrong_type")]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
@pytest.mark.parametrize("option", ["text_column", "id_column", "keep_columns"])
def test_a_column_that_is_there_twice_is_refused(read_bytes, name, option):
    names, row = ["text", "twice", "twice"], ["one", "two", "three"]
    data = table([names, row], "\t" if name == "a.tsv" else ",")
    if name == "a.parquet":
        sink = io.BytesIO()
        pq.write_table(pa.table([[value] for value in row], names=names), sink)
        data = sink.getvalue()
    chosen = {option: ("twice",) if option == "keep_columns" else "twice"}
    with pytest.raises(UsageError, match=r"has 2 columns 'twice', .*; rename them"):
        read_bytes(data, name, **chosen)
