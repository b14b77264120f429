"""The judge's benchmark from files of judgements to its table, with a server of ours in the model's place."""

import json
import sys

from augment_cli.reports.agreement import agreement
from augment_cli.reports.verdicts import Judgement, read
from augment_cli.store.store import Store
from benchmarks import judge_quality
from tests.helpers.faulty_server import serving


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
