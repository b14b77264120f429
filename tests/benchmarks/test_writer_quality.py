"""The writer's benchmark: what it makes, what it runs, and its table; trainings are taken for granted."""

import gzip
import json
import sys

import pytest

from augment_cli.store.store import Store
from benchmarks import writer_quality
from tests.helpers.faulty_server import serving
from tests.helpers.page_commands import read_arguments
from tests.helpers.tiny_models import SENTENCES


def test_a_row_for_each_kind_of_positive_and_long_lines_are_no_hindrance(tmp_path, monkeypatch, capsys):
    corpus = tmp_path / "data" / writer_quality.CORPUS
    corpus.parent.mkdir(parents=True)
    lines = [*SENTENCES[:20], *["a very long line " * 20] * 30]
    corpus.write_bytes(gzip.compress("\n".join(lines).encode()))
    called = []

    def call(program, *words):
        called.append([program, *map(str, words)])
        seed = (
            next((int(word[5:]) for word in called[-2] if word.startswith("seed=")), 0) if called[1:] else 0
        )
        scores = {"sts12": {"main_score": 0.5}, "sts13": {"main_score": 0.6 + seed / 100}}
        return json.dumps([{"scores": scores}])

    monkeypatch.setattr(writer_quality, "_call", call)
    with serving(lambda handler, number, body: handler.answer("A heron is waiting there.")) as server:
        words = ["--model", "small", "--endpoint", server.endpoint, "--data", str(tmp_path / "data")]
        words += ["--work", str(tmp_path / "work"), "--rows", "10", "--seeds", "1,3", "--set", "steps=2"]
        monkeypatch.setattr(sys, "argv", ["writer_quality", *words])
        writer_quality.main()
    assert len(server.requests) == 10
    store = Store.open(tmp_path / "work" / "store")
    assert store.rows == 10 and {"rephrase", "llm-paraphrase"} <= {*store.stages()}
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("|")][2:]
    assert [row.split("|")[1].strip() for row in rows] == list(writer_quality.POSITIVES.values())
    assert all(row.endswith("| 56.00 | 55.50 – 56.50 |") for row in rows) and "| 100% |" in rows[2]
    trained = [words for words in called if words[0] == "train"]
    assert len(called) == 2 * len(trained) == 12
    assert [word for words in trained for word in words if word.startswith("positives=")] == [
        f"positives={stage}" for stage in writer_quality.POSITIVES for _ in range(2)
    ]
    assert all(words[-1] == "steps=2" for words in trained)
    for words in called:
        with pytest.MonkeyPatch.context() as patch:
            read_arguments("python -m " + " ".join(words), patch)
