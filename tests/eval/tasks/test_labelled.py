"""One's own labelled texts: what is read, what is refused, and two encoders compared on them."""

import csv
import json

import pytest

from augment_cli.errors import BadInputError, UsageError
from eval.command import main
from eval.protocols import clustering, intent
from eval.tasks.labelled import read_labelled

ROWS = [
    (f"The {colour} {thing} number {n}", thing)
    for thing in ("car", "river", "song")
    for n in range(8)
    for colour in ("red", "old")
]


def write(path, rows, header=("title", "topic")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_tasks_over_the_distinct_texts_with_half_of_each_class_to_learn_from(tmp_path):
    file = write(tmp_path / "my titles.csv", [*ROWS, ROWS[0], ("", "car"), ("A title without a topic", " ")])
    tables, notes = read_labelled(file, "title", "topic")
    names = [table.task.name for table in tables]
    assert names == ["my-titles-clustering", "my-titles-purity", "my-titles-few-shot"]
    assert [table.task.counts for table in tables] == [{"all": 48}, {"all": 48}, {"train": 24, "test": 24}]
    assert list(zip(tables[0].texts("all"), tables[0].labels("all"), strict=True)) == ROWS
    few_shot = tables[2]
    learned, others = few_shot.texts("train"), few_shot.texts("test")
    assert not set(learned) & set(others)
    for part in ("train", "test"):
        assert sorted(few_shot.labels(part)) == sorted(["car", "river", "song"] * 8)
    assert read_labelled(file, "title", "topic")[0][2].texts("train") == learned
    assert sorted(note.split(": ")[1] for note in notes) == [
        "1 left out (duplicate)",
        "1 left out (empty)",
        "1 left out (no label)",
    ]


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (("name", "topic"), UsageError, "no column 'name'"),
        (("title", "kind"), UsageError, "no column 'kind'"),
        (("topic", "title"), BadInputError, r"3 different .* \(45 left out .* give 12 or more$"),
        (("title", "title"), BadInputError, "48 different texts .* 48 classes; give two texts a class"),
    ],
)
def test_what_is_not_texts_with_classes_is_refused(tmp_path, columns, error, message):
    with pytest.raises(error, match=message):
        read_labelled(write(tmp_path / "a.csv", ROWS), *columns)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:11], "11 different texts with a class; the ten nearest"),
        ([(text, "car") for text, _ in ROWS], "all of 'car'; give texts of two classes"),
        ([(f"Text {n}", str(n // 2)) for n in range(24)], "12 classes; K-means ends with 11 at most"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_not_that_a_column_be_named(tmp_path, monkeypatch, rows, message):
    monkeypatch.setattr("eval.tasks.labelled._MOST_CLASSES", 11)
    with pytest.raises(BadInputError, match=message) as found:
        read_labelled(write(tmp_path / "a.csv", rows), "title", "topic")
    assert "name the column" not in str(found.value)


def test_one_text_under_two_classes_is_told_and_the_first_class_counts(tmp_path):
    # An empty class is none, and blanks around one are no other.
    again = [(ROWS[0][0], "river"), (ROWS[1][0], " car "), (ROWS[2][0], "")]
    tables, notes = read_labelled(write(tmp_path / "a.csv", [*ROWS, *again]), "title", "topic")
    assert list(zip(tables[0].texts("all"), tables[0].labels("all"), strict=True)) == ROWS
    assert any("1 left out (contradiction:" in note and "'river' after 'car'" in note for note in notes)
    assert [note.partition(": ")[2] for note in notes if "contra" not in note] == [
        "1 left out (no label)",
        "1 left out (duplicate)",
    ]


def test_of_too_many_texts_some_are_drawn_always_the_same_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.tasks.labelled._MOST_TEXTS", 40)
    file = write(tmp_path / "a.csv", ROWS)
    (first, notes), (second, _) = (read_labelled(file, "title", "topic") for _ in range(2))
    assert notes == [f"{file}: 8 left out (40 drawn at random are scored)"]
    texts = first[0].texts("all")
    assert len(texts) == 40 and texts == second[0].texts("all")
    assert texts == [text for text, _ in ROWS if text in texts]


def test_two_encoders_are_compared_in_one_sentence(tiny_encoder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(clustering, "SEEDS", (0, 1))
    monkeypatch.setattr(intent, "SHOTS", (5,))
    file = write(tmp_path / "mine.csv", ROWS)
    out = tmp_path / "results"
    arguments = ["--labelled", str(file), "--text-column", "title", "--label-column", "topic"]
    arguments += ["--no-plots", "--no-cache", "--jobs", "1", "--out", str(out)]
    main([f"mean={tiny_encoder}", f"first={tiny_encoder}", *arguments])
    printed = capsys.readouterr()
    sentence = next(line for line in printed.err.splitlines() if line.startswith("first minus mean"))
    # Called as in the tables.
    assert "in points: mine, K-means +0.0 (" in sentence and "; mine, few-shot, 5 a class +0.0 (" in sentence
    assert "; mine, purity of the ten nearest +0.0 (+0.0 to +0.0)" in sentence and "_10" not in sentence
    assert sentence.endswith("Ahead beyond the 95 % interval in 0 of 3, behind in 0.")
    assert "mine, K-means" in printed.out
    main(["table", str(out)])  # from what was stored, where no registry knows these tasks
    assert "mine, purity of the ten nearest" in capsys.readouterr().out


@pytest.mark.parametrize("separator", [None, ";"])
def test_what_spreadsheets_write_is_read_and_said(tmp_path, separator):
    lines = ["title;topic;price", *(f'"{text}, ""new""";{topic};3,50' for text, topic in ROWS)]
    (tmp_path / "my.csv").write_text("\ufeff" + "\r\n".join(lines), newline="")
    tables, notes = read_labelled(tmp_path / "my.csv", "title", "topic", separator)
    assert tables[0].texts("all") == [f'{text}, "new"' for text, _ in ROWS]
    assert notes == ["my.csv: fields are separated by ';'"]
    nested = "".join(json.dumps({"data": {"text": text, "topic": topic}}) + "\n" for text, topic in ROWS)
    (tmp_path / "my.jsonl").write_text(nested)
    tables, notes = read_labelled(tmp_path / "my.jsonl", "data.text", "data.topic")
    assert list(zip(tables[0].texts("all"), tables[0].labels("all"), strict=True)) == ROWS
    with pytest.raises(UsageError, match=r"no text has a 'topic'; name .* with --label-column"):
        read_labelled(tmp_path / "my.jsonl", "data.text", "topic")


def test_mistakes_in_the_label_column_are_said_in_this_commands_words(tmp_path):
    file = tmp_path / "my.csv"
    rows = "".join(f"{n},A heron waits by lake {n}.,{n % 2}\n" for n in range(20))
    file.write_text(f"id,title,topic\n{rows}")
    with pytest.raises(UsageError, match="rename the column") as found:
        read_labelled(file, "title", "id")
    assert "--label-column" in str(found.value) and "--keep-column" not in str(found.value)
    file.write_text(f"title,topic,topic\n{rows}")
    with pytest.raises(UsageError, match=r"2 columns 'topic'.*another with --label-column$"):
        read_labelled(file, "title", "topic")
