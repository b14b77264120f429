"""How the benchmark of growth makes its corpora, and resumes."""

import gzip
import json

import pytest

from benchmarks import growth
from benchmarks.growth import measure, pieces, recombined, write_corpus


def test_what_goes_beyond_the_sentences_is_made_of_their_halves():
    sentences = ["a b c d", "e f g h i", "j"]
    made = list(recombined(sentences, 8))
    assert made[:3] == sentences and len(made) == 8
    words = {word for sentence in sentences for word in sentence.split()}
    assert all(set(text.split()) <= words for text in made)
    starts = [text.split()[0] for text in made]
    assert starts == ["a", "e", "j", "a", "e", "j", "a", "e"]


def test_a_command_that_was_measured_is_not_run_again(tmp_path):
    (tmp_path / "corpus").mkdir()
    with gzip.open(tmp_path / "corpus" / "wiki_en-00.txt.gz", "wt") as file:
        file.writelines(f"Sentence number {number} is here.\n" for number in range(40))
    write_corpus(tmp_path / "40.txt.gz", tmp_path, 40)
    store, log = tmp_path / "store", tmp_path / "measured.jsonl"
    ingest = ["ingest", "--corpus", str(tmp_path / "40.txt.gz"), "--store", str(store)]
    measured = measure(ingest, log)
    assert pieces("parse", store) == [["--parts", "0-0"]]
    assert pieces("pi", store) == [[]]
    (line,) = log.read_text("utf-8").splitlines()
    assert json.loads(line)["words"] == ingest
    (tmp_path / "40.txt.gz").unlink()  # it could not be read a second time
    assert measure(ingest, log) == pytest.approx(measured)


def test_an_epoch_is_trained_on_the_store_that_was_made(tmp_path, monkeypatch, capsys):
    ran = []

    def record(words, log):
        ran.append(words)
        (tmp_path / "store-7").mkdir(exist_ok=True)
        log.touch()
        return 2.0, 3 * 2**20

    monkeypatch.setattr(growth, "measure", record)
    monkeypatch.setattr(growth, "write_corpus", lambda path, data, rows: None)
    words = [
        "--data",
        "data",
        "--work",
        str(tmp_path),
        "--rows",
        "7",
        "--commands",
        "ingest",
        "crop",
        "train",
    ]
    monkeypatch.setattr("sys.argv", ["growth", *words])
    growth.main()
    store = ["--store", str(tmp_path / "store-7")]
    assert ran[1] == ["crop", *store, "--jobs", "2"]
    assert ran[2][:4] == ["train", "static", *store] and "positives=crop" in ran[2] and "--jobs" not in ran[2]
    assert "| 7 | 2.0 s | 2.0 s | 2.0 s | 3 MiB |" in capsys.readouterr().out
    assert not [*tmp_path.iterdir()]
