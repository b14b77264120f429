"""A file looked at before it is read; the command that is named reads what was promised."""

import gzip
import json
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import augment_cli
from augment_cli.errors import BadInputError, UsageError
from tests.augment_cli.ingest.test_dialects import DIALECTS, DOCUMENTS, NESTED, TEXTS

TABLE = "id;Überschrift;thema\n" + "".join(f"{n};Das ist der Fluß Nummer {n}.;Wasser\n" for n in range(30))


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FILES = {
    **{name: (file, data, 3) for name, (file, data, _) in DIALECTS.items() if "called txt" not in name},
    **{f"JSON, {name}": ("a.json", data.encode(), 2) for name, data in DOCUMENTS.items()},
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
        ("The dog has eaten.", "English"),
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
