"""Files as programs write them: what is unusual is found, and the named command reads what was promised."""

import gzip
import json
import re
import shlex
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import augment_cli
from augment_cli.errors import BadInputError, IncompleteError, UsageError
from augment_cli.ingest import records, streams

TEXTS = ["The small, green gate is open.", "Grüße; from the river.", 'She said "no".']
ROWS = [["title", "price"], [TEXTS[0], "3,50"], [TEXTS[1], "4"], [TEXTS[2], "5,25"]]


def table(separator, end="\r\n", quote='"'):
    """As spreadsheets write it: quoted only where the separator or a quotation mark asks for it."""

    def field(value):
        if separator in value or '"' in value or "\n" in value:
            return quote + value.replace('"', '""') + quote
        return value

    return "".join(separator.join(map(field, row)) + end for row in ROWS)


DIALECTS = {
    "semicolons": ("a.csv", ("\ufeff" + table(";")).encode(), "fields are separated by ';'"),
    "a line for Excel": ("a.csv", ("sep=;\r\n" + table(";")).encode(), "separated by ';'"),
    "a line for Excel that changes nothing": ("a.csv", ("sep=,\n" + table(",")).encode(), ""),
    "Unicode text of Excel": ("a.txt", table("\t").encode("utf-16"), "utf-16; .* separated by a tab"),
    "big-endian": ("a.tsv", b"\xfe\xff" + table("\t").encode("utf-16-be"), "the encoding is utf-16"),
    "of an old Macintosh": ("a.csv", table(";", "\r").encode(), "lines end in a carriage return; fields"),
    "tabs in a csv": ("a.csv", table("\t").encode(), "separated by a tab"),
    "a csv that is called txt": ("a.txt", table(",").encode(), "separated by ','"),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_tables_as_spreadsheets_write_them(read_bytes, name):
    file, data, words = DIALECTS[name]
    result = read_bytes(data, file, text_column="title", keep_columns=("price",))
    assert (result.texts, result.rejects) == (TEXTS, [])
    assert result.store.read("corpus")["price"].to_pylist() == ["3,50", "4", "5,25"]
    first = 2 + (b"sep=" in data)
    assert result.store.read("corpus")["line"].to_pylist() == list(range(first, first + 3))
    assert len(result.report.notes) == bool(words)
    assert all(re.match(f"{file}: .*{words}", note) for note in result.report.notes)


def test_a_line_break_of_another_kind_within_quotes_is_no_line_end(read_bytes):
    data = b'title;topic\r"One\ntwo";x\rThree;y\r'
    assert read_bytes(data, "a.csv", text_column="title").texts == ["One two", "Three"]
    data = b'title;topic\n"One\rtwo";x\nThree;y\n'
    assert read_bytes(data, "a.csv", text_column="title").texts == ["One two", "Three"]


def test_the_usual_separator_is_taken_wherever_it_can_be(read_bytes):
    result = read_bytes(b"text\nfirst; second\n", "a.csv")
    assert result.texts == ["first; second"] and result.report.notes == ()
    result = read_bytes(b"text,a;b\nfirst,second;third\n", "a.csv")
    assert result.texts == ["first"]
    named = read_bytes(b"text:n\none:1\n", "a.csv", separator=":")
    assert named.texts == ["one"]
    assert named.store.stage("corpus").settings["parameters"]["separator"] == ":"
    assert "separator" not in result.store.stage("corpus").settings["parameters"]
    with pytest.raises(UsageError, match=r"no column 'text', it has \['title', 'price'\]"):
        read_bytes(table(";").encode(), "a.csv")


def test_a_header_in_another_encoding_is_told(read_bytes):
    data = "Überschrift;n\nGrün;1\n".encode("cp1252")
    with pytest.raises(UsageError, match="its header is not UTF-8; name its --encoding"):
        read_bytes(data, "a.csv", text_column="Überschrift")
    assert read_bytes(data, "a.csv", text_column="Überschrift", encoding="cp1252").texts == ["Grün"]
    marked = ("\ufeff" + table("\t")).encode("utf-16-le")
    assert read_bytes(marked, "a.csv", text_column="title", encoding="utf-16-le").texts == TEXTS


@pytest.mark.parametrize("separator", ["", ";;", '"', "\r", "comma"])
def test_a_separator_is_one_character(read_bytes, separator):
    with pytest.raises(UsageError, match=r"--separator .*: give one character"):
        read_bytes(b"text\none\n", "a.csv", separator=separator)


@pytest.mark.parametrize("name", ["tab", "\\t", "\t"])
def test_a_tab_has_names(read_bytes, name):
    assert read_bytes(b"text\tn\none\t1\n", "a.csv", separator=name).texts == ["one"]


OBJECTS = [{"text": "One [1], {two}.", "n": {"k": [1, 2]}}, {"text": 'a "b" \u2028 ü', "n": {"k": []}}]
DOCUMENTS = {
    "one line": json.dumps(OBJECTS),
    "indented": "\ufeff" + json.dumps(OBJECTS, indent=2, ensure_ascii=False),
    "an object a line": "[\n" + ",\n".join(map(json.dumps, OBJECTS)) + "\n]\n",
    "no array": "\n".join(json.dumps(one, indent=1) for one in OBJECTS),
    "no array, with commas": ",\n".join(json.dumps(one, indent=1) for one in OBJECTS),
    "lines with commas": ",\n".join(map(json.dumps, OBJECTS)) + ",\n",
    "lines": "\n".join(map(json.dumps, OBJECTS)),
    "texts": json.dumps([one["text"] for one in OBJECTS]),
}


@pytest.mark.parametrize("form", DOCUMENTS)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_json_of_every_layout(read_bytes, monkeypatch, form, name, size):
    monkeypatch.setattr(streams, "PIECE_BYTES", size)
    result = read_bytes(DOCUMENTS[form].encode(), name)
    assert (result.texts, result.rejects) == ([one["text"] for one in OBJECTS], [])
    lines = result.store.read("corpus")["line"].to_pylist()
    assert all(first <= second for first, second in pairwise(lines)) and lines[0] < 3


@pytest.mark.parametrize(
    ("data", "texts", "reasons"),
    [
        ('[{"text": "one"},\n{"text": 5},\n{"x": 1}]', ["one"], [(2, "wrong_type"), (3, "no_text_field")]),
        ('[{"text": "one"},\n{"text": "tw', ["one"], [(2, "damaged_file")]),
        ('[{"text": "one"},\n{"text": "two"}', ["one", "two"], [(2, "damaged_file")]),
        ('[{"text": "one"},\n{"text": "two"}]\nand more', ["one", "two"], [(3, "damaged_file")]),
        ('[{"text": "one"}, {"text": "\\ud800"}]', ["one"], [(1, "not_utf8")]),
        ('{"text": "one"}\n{"text":\n', ["one"], [(2, "broken_json")]),
        ('{"text": "cut\n{"text": "two"}\n', ["two"], [(1, "broken_json")]),
        ('[{"text": "a"}]\n{"text": "two"}\n', ["two"], [(1, "wrong_type")]),
    ],
)
def test_what_is_wrong_in_json_is_named(read_bytes, data, texts, reasons):
    result = read_bytes(data.encode(), "a.jsonl")
    assert (result.texts, result.reasons) == (texts, reasons)
    if reasons[-1][1] == "damaged_file":
        with pytest.raises(IncompleteError, match="damaged"):
            result.report.check(1)


def test_an_object_without_end_takes_no_memory_without_end(read_bytes, monkeypatch):
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(streams, "PIECE_BYTES", 64)
    result = read_bytes(b'[{"text": "one"}, {"text": "' + b"x" * 50_000, "a.json")
    assert result.texts == ["one"] and result.reasons == [(1, "damaged_file")]
    assert len(result.rejects[0]["raw"]) < 2000


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("a.json.zst", b'[{"text": "one"}, '),
        ("a.csv.zst", b'text\none\n"'),
        ("a.txt.zst", b"one\n"),
        ("a.txt.gz", b"one\n"),
    ],
)
def test_a_bomb_ends_any_format(read_bytes, monkeypatch, name, begin):
    monkeypatch.setattr(streams, "PIECE_BYTES", 1 << 12)
    monkeypatch.setattr(streams, "_RATIO_FROM_BYTES", 1 << 14)
    monkeypatch.setattr(streams, "_MAX_RATIO", 10)
    data = begin + b" \n" * (1 << 18)
    packed = gzip.compress(data) if name.endswith("gz") else pa.compress(data, "zstd", asbytes=True)
    result = read_bytes(packed, name, max_characters=5)
    assert result.texts == ["one"] and result.reasons[-1][1] == "decompression_bomb"
    assert result.report.read < 1 << 16
    with pytest.raises(IncompleteError, match="decompression_bomb"):
        result.report.check(max_rejects=1.0)


NESTED = [{"data": {"text": "One."}, "turns": [{"text": "a"}, {"text": "b"}], "x.y": "z", "id": 1}] * 2


@pytest.mark.parametrize(
    ("name", "text"), [("data.text", "One."), ("turns.1.text", "b"), ("x.y", "z"), ("turns.0.text", "a")]
)
def test_fields_within_others(read_bytes, name, text):
    data = "".join(json.dumps(row) + "\n" for row in NESTED).encode()
    result = read_bytes(data, "a.jsonl", text_column=name, keep_columns=("data.text",), id_column="id")
    assert result.texts == [text, text]
    assert result.store.read("corpus")["data.text"].to_pylist() == ["One.", "One."]
    known = (
        r"has no field 'data.no', it has data\.text, turns\.0\.text, x\.y, id; name one with --text-column"
    )
    with pytest.raises(UsageError, match=known):
        read_bytes(data, "a.jsonl", text_column="data.no")


def test_fields_within_columns_of_parquet(read_bytes, tmp_path):
    pq.write_table(pa.Table.from_pylist([*NESTED, {"data": None}]), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    result = read_bytes(data, "a.parquet", text_column="data.text", keep_columns=("x.y",))
    assert result.texts == ["One.", "One."] and result.reasons == [(3, "missing")]
    with pytest.raises(UsageError, match=r"no column 'text', it has \['data', .*, 'data\.text'\]"):
        read_bytes(data, "a.parquet")


def test_columns_that_no_object_has_are_named(read_bytes):
    data = b'{"text": "One.", "key": 1}\n'
    with pytest.raises(UsageError, match="no field 'id', it has text, key; name one with --id-column"):
        read_bytes(data, "a.jsonl", id_column="id")
    notes = read_bytes(data, "a.jsonl", keep_columns=("key", "labl")).report.notes
    assert notes == ("no row has a 'labl' (--keep-column): it stays empty",)


def test_a_table_that_is_read_as_lines_is_told(read_bytes):
    for data in (b"title\tn\nOne\t1\nTwo\t2\n", "title\tn\nOne\t1\nTwo\t2\n".encode("utf-16")):
        result = read_bytes(data, "a.txt")
        assert len(result.texts) == 3
        [note] = result.report.notes
        assert note.endswith("it may be a table (title, n); name one of these with --text-column")
    assert read_bytes(b"I came; I saw.\nOne\tmore.\nAnd on.\n").report.notes == ()


def test_nothing_is_read_of_json_that_has_no_field(read_bytes):
    with pytest.raises(UsageError, match="has no field 'text', it has none"):
        read_bytes(b"{}\n", "a.jsonl")
    with pytest.raises(BadInputError, match="no sentence could be read"):
        read_bytes(b"[3, 4]", "a.json")


TABLE = "id;Überschrift;thema\n" + "".join(f"{n};Das ist der Fluß Nummer {n}.;Wasser\n" for n in range(30))


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FILES = {
    **{name: (*DIALECTS[name][:2], 3) for name in ("a line for Excel", "big-endian", "of an old Macintosh")},
    **{f"JSON, {name}": ("a.json", DOCUMENTS[name].encode(), 2) for name in ("indented", "texts")},
    "Windows, German": ("a.csv", TABLE.encode("cp1252"), 30),
    "no mark": ("a.csv", TABLE.encode("utf-16-le"), 30),
    "no mark, big-endian": ("a.csv.gz", gzip.compress(TABLE.encode("utf-16-be")), 30),
    "nested": ("a.jsonl", jsonl(NESTED), 2),
    "quotation marks that are characters": ("a.tsv", b'text\tn\n"Well,\t1\nsaid she. He left.\t2\n', 2),
    "one column with commas": ("a.csv", b"text\nHello, there\nBye\n", 2),
    "mixed": ("a.txt", b"The river flows.\n\n\x01bell\nThe heron waits.\nThe river flows.\n", 3),
    "Chinese": ("a.txt", "我们去公园，天气很好。\n".encode("gb18030") * 3, 3),
    "a word a line": ("a.txt", b"one\n", 1),
}


@pytest.mark.parametrize("name", FILES)
def test_the_command_reads_what_was_promised(tmp_path, command, name):
    file, data, kept = FILES[name]
    (tmp_path / file).write_bytes(data)
    found = augment_cli.look(tmp_path / file)
    assert found["kept"] == kept == found["rows"] - sum(found["rejects"].values())
    result = command(*shlex.split(found["command"])[1:])
    assert result.returncode == 0, result.stderr
    store = augment_cli.open_store("store")
    assert store.rows == kept and store.stage("rejects").rows == sum(found["rejects"].values())


def test_columns_lengths_languages_and_repeats(tmp_path):
    (tmp_path / "a.csv").write_bytes(TABLE.encode("cp1252"))
    found = augment_cli.look(tmp_path / "a.csv")
    assert (found["encoding"], found["separator"], found["text_column"]) == ("cp1252", ";", "Überschrift")
    assert [column["name"] for column in found["columns"]] == ["id", "Überschrift", "thema"]
    assert [column["distinct"] for column in found["columns"]] == [30, 30, 1]
    assert found["columns"][1]["example"] == "Das ist der Fluß Nummer 0."
    assert found["languages"] == {"German": 1}
    pq.write_table(pa.table({"body": [*TEXTS, TEXTS[0], None], "n": range(5)}), tmp_path / "a.parquet")
    found = augment_cli.look(tmp_path / "a.parquet")
    assert (found["kept"], found["repeated"], found["rejects"]) == (4, 1, {"missing": 1})
    assert found["text_column"] == "body" and "--max-rejects 0.2" in found["command"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Le chat est dans la maison.", "French"),
        ("今日は雨です。", "Japanese"),
        ("今天下雨。", "Chinese"),
        ("Река течёт.", "Cyrillic script"),
        ("123", "unknown"),
    ],
)
def test_languages_are_told_by_script_and_frequent_words(tmp_path, text, language):
    (tmp_path / "a.txt").write_text(text)
    assert augment_cli.look(tmp_path / "a.txt")["languages"] == {language: 1}


def test_a_list_within_one_object_is_told(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "data": [{"text": "One."}, {"text": "Two."}]}))
    notes = augment_cli.look(tmp_path / "a.json")["notes"]
    assert any("write the list alone" in note for note in notes)


def test_of_a_long_file_the_first_rows_are_looked_at(tmp_path):
    (tmp_path / "a.txt").write_text("The river flows.\n" * 30)
    found = augment_cli.look(tmp_path / "a.txt", rows=20)
    assert found["rows"] == 20 and any("there are more" in note for note in found["notes"])


def test_what_is_asked_for_is_looked_at(tmp_path, command):
    (tmp_path / "a.csv").write_text("title:body\nOne:Two words\n")
    with pytest.raises(UsageError, match="has no column 'head'"):
        augment_cli.look(tmp_path / "a.csv", text_column="head")
    with pytest.raises(BadInputError, match="no such file"):
        augment_cli.look(tmp_path / "b.csv")
    result = command("look", "a.csv", "--separator", ":", "--text-column", "title", "--json")
    found = json.loads(result.stdout)
    assert found["text_column"] == "title" and "--separator :" in found["command"]
    shown = command("look", "a.csv", "--separator", ":").stdout
    assert "2 bytes" not in shown and "Two words" in shown
    assert (
        "To go on: augment-cli ingest --corpus a.csv --text-column body --separator : --store store" in shown
    )


_PARTED = "a good film , with a plot .\nthe end is weak .\nit works !\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_PARTED, ["tokenised: 100%", "without capitals: 100%"]),
        ("A good film, with a plot.\nThe end is weak.\nIt works!\n", []),
        ("turn on the light\nplay some jazz\nI left.\n", ["without capitals: 67%"]),
        ("我们去公园。\n天气很好。\n", []),
    ],
)
def test_small_letters_and_spaces_before_marks_are_told(tmp_path, command, text, told):
    file = tmp_path / "a.txt"
    file.write_text(text, "utf-8")
    notes = [note for note in augment_cli.look(file)["notes"] if note.startswith(("tokenised", "without c"))]
    assert [note[: len(one)] for note, one in zip(notes, told, strict=True)] == told
    said = command("ingest", "--corpus", file, "--store", tmp_path / "store").stderr
    assert all(one in said for one in told)
    assert ("without capitals" in said) == bool(told)
