"""Blind reading: rows without their stage, the key, and the table of two readers."""

import json
import sys

import pytest
from sklearn.metrics import cohen_kappa_score

from augment_cli.reports.agreement import kappa_of
from augment_cli.reports.verdicts import Judgement, read
from benchmarks import blind_reading
from benchmarks.blind_reading import drawn, of_reader, table, write_rows

FIRST = ("good", "good", "wrong", "awkward", "good", "wrong", "good", "good")
SECOND = ("good", "awkward", "wrong", "awkward", "good", "good", "good", None)


def filled(path, out, verdicts):
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row, verdict in zip(rows, verdicts, strict=True):
        row["verdict"] = verdict
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return out


@pytest.fixture
def written(store, tmp_path):
    key = drawn([store.path], None, 4, 1)
    return write_rows(tmp_path / "blind", key, [store.path])


def test_rows_say_what_is_asked_and_not_whose_they_are(written, store):
    text = written.read_text("utf-8")
    assert "una" not in text and text.count("good says something else") == 8
    key = read([written.parent / "key.jsonl"])
    assert {one.stage for one in key} == {"una", "una.1"} and len(key) == 8
    assert [one.stage for one in key] != sorted(one.stage for one in key)
    assert {one.stage for one in drawn([store.path], ["una"], 4, 1)} == {"una"}


def test_the_table_has_both_readers_and_scikit_learns_kappa(written, tmp_path, capsys, monkeypatch):
    files = [filled(written, tmp_path / f"{n}.jsonl", some) for n, some in enumerate((FIRST, SECOND))]
    key = written.parent / "key.jsonl"
    monkeypatch.setattr(sys, "argv", ["blind_reading", "table", "--key", str(key), *map(str, files)])
    blind_reading.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| `una`", "| `una.1`", "| all"]
    kappa = cohen_kappa_score(FIRST[:7], SECOND[:7])
    assert lines[-1].startswith("| all | 7 | 4/1/2 | 4/2/1 |") and f"| 71% | {kappa:.2f} |" in lines[-1]


def test_files_of_the_page_need_no_key(tmp_path):
    ones = [Judgement("una", row, verdict) for row, verdict in enumerate(FIRST)]
    others = [Judgement("una", row, verdict) for row, verdict in enumerate(SECOND)]
    assert "| `una` | 7 | 4/1/2 | 4/2/1 |" in table(ones, others)
    assert kappa_of(zip(FIRST, FIRST, strict=True)) == 1 and kappa_of([("good", "good")]) is None
    assert kappa_of([]) is None and table(ones, []).count("\n") == 1


def test_rows_of_another_key_are_refused(written, tmp_path, store):
    path = filled(written, tmp_path / "first.jsonl", FIRST)
    with pytest.raises(SystemExit, match="is not that of the key"):
        of_reader(path, drawn([store.path], None, 4, 2))
    with pytest.raises(SystemExit, match="a verdict is one of good, awkward, wrong"):
        of_reader(filled(written, tmp_path / "x", ["fine", *FIRST[1:]]), read([written.parent / "key.jsonl"]))
