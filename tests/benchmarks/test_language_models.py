"""Language models as judge and writer: what is asked and how it is counted."""

import gzip
import json
import sys

import pytest

from augment_cli.reports.verdicts import Judgement, agreement, read
from augment_cli.store.store import Store
from benchmarks import judge_quality, writer_quality
from tests.helpers.faulty_server import serving
from tests.helpers.page_commands import read_arguments
from tests.helpers.tiny_models import SENTENCES


def test_the_table_is_what_agreement_counts(tmp_path, monkeypatch, capsys):
    ones = [
        Judgement(maker, row, verdict, original=f"heron {row} waits", text=f"{maker} {row}")
        for maker in ("rephrase", "antonym", "hypernym")  # the last says nothing of the meaning
        for row, verdict in enumerate(["good", "wrong", "awkward", "good", "wrong", "good"])
    ]
    (tmp_path / "judged").mkdir()
    fields = ("stage", "row_id", "verdict", "original", "text")
    lines = [json.dumps({field: getattr(one, field) for field in fields}) for one in ones]
    (tmp_path / "judged" / "all.jsonl").write_text("\n".join(lines) + "\n")

    def behave(handler, number, body):
        second = body["messages"][-1]["content"].partition("Second: ")[2]
        assert body["temperature"] == 0.0
        handler.answer({"rephrase": "same", "antonym": "other"}[second.split()[0]])

    with serving(behave) as server:
        words = ["--model", "small", "--endpoint", server.endpoint, "--judged", str(tmp_path / "judged")]
        monkeypatch.setattr(sys, "argv", ["judge_quality", *words, "--work", str(tmp_path / "work")])
        judge_quality.main()
        judge_quality.main()  # goes on where it was: all of it is there
    assert len(server.requests) == 10
    head, _, *rows = capsys.readouterr().out.splitlines()[:5]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert head.startswith("| augmentation | pairs |")
    assert [row[:4] for row in cells] == [
        ["`antonym`", "5", "0", "60%"],
        ["`rephrase`", "5", "0", "60%"],
        ["all", "10", "0", "60%"],
    ]
    found = agreement(Store.open(tmp_path / "work" / "store"), "llm-judge", read([tmp_path / "judged"]))
    assert cells[2][5] == f"{found['kappa']:.2f}" and found["pairs"] == 10


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
