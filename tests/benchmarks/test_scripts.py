"""Scripts behind published numbers, at a tiny size, and judged rows of what the augmentations make today."""

import gzip
import json
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.languages import languages_of
from augment_cli.models import shipped_pipeline
from augment_cli.parsing.stage import parse_texts
from augment_cli.reports.verdicts import read, summary
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.tables import as_table
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints
from benchmarks import growth, snli_negatives
from benchmarks.gpu_quarter import main
from benchmarks.judged_table import DOCUMENT, JUDGED, table
from benchmarks.meaning_pairs import is_negated


@pytest.mark.slow
def test_trainings_are_compared_with_the_cpus_and_speeds_stand_in_one_file(tmp_path):
    out = tmp_path / "quarter.json"
    sizes = ["--layers", "1", "--width", "32", "--steps", "4", "--first", "3", "--batches", "8"]
    main(["--out", str(out), "--precisions", "fp32,fp16", "--modes", "plain", *sizes])
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [part["agrees"] for part in found["agreement"]] == [True, True]
    assert found["agreement"][0]["largest_difference"] == 0.0 < found["agreement"][1]["largest_difference"]
    assert [part["rows_per_second"] > 0 for part in found["speed"]] == [True, True]
    assert not found["left_out"]
    main(["--out", str(out), "--seconds", "0", "--precisions", "fp32", "--modes", "plain", *sizes])
    assert len(json.loads(out.read_text(encoding="utf-8"))["left_out"]) == 2


@pytest.mark.slow
def test_the_documents_table_is_the_one_that_the_judged_rows_give():
    assert table() in DOCUMENT.read_text("utf-8"), "put in what `python -m benchmarks.judged_table` prints"


def test_every_judged_row_has_a_verdict_and_its_texts():
    rows = read(sorted(JUDGED.glob("*.jsonl")))
    assert len(rows) >= 400
    for row in rows:
        assert row.verdict is not None and row.version is not None
        if row.judge != "reader 2":  # whose lines are of the same rows, and repeat no texts
            assert row.original and row.text and row.original != row.text
        assert row.verdict != "wrong" or row.note
    assert len({(row.store, row.stage, row.row_id, row.judge) for row in rows}) == len(rows)
    first, second = (
        {(row.store, row.stage, row.row_id) for row in rows if row.judge == f"reader {number}"}
        for number in (1, 2)
    )
    assert first == second


OF_A_CORPUS = {"una", "uda", "entity-swap", "paraphrase"}
# Of one reading of parts of speech or the other: nobody noted whether the store had a parse.
READINGS: tuple[dict[str, Any], ...] = ({}, {"parts_of_speech": "parse"}, {"parts_of_speech": "words"})
SEED = 42


@cache
def pipeline() -> Any:
    import spacy

    return spacy.load(shipped_pipeline())


def judged(path: Any) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [entry for entry in entries if entry.get("text")]  # a second reader's lines have no texts


FILES = [
    path
    for path in sorted(JUDGED.glob("*.jsonl"))
    if judged(path)[0]["augmentation"] not in OF_A_CORPUS and not summary(read([path]))[0]["stale"]
]


def made(run: AugmentationRun, rows: Rows) -> list[str | None]:
    outcome = run.augmentation.prepare(run.parameters, Resources(SEED, 0))(rows)
    texts: list[str | None] = as_table(run.augmentation, rows, outcome)["text"].to_pylist()
    return texts


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_judged_text_comes_out_again(path):
    entries = judged(path)
    texts = pa.array([entry["original"] for entry in entries], pa.string())
    row_ids = np.array([entry["row_id"] for entry in entries])
    plain = Rows(row_ids, texts, CodePoints.of(texts))
    name, expected = entries[0]["augmentation"], [entry["text"] for entry in entries]
    fields = make_run(name).parameters.__dataclass_fields__
    outputs = []
    for options in READINGS if "parts_of_speech" in fields else READINGS[:1]:
        run = make_run(name, **options)
        reads = "parses" in run.augmentation.needs or options.get("parts_of_speech") == "parse"
        outputs.append(made(run, with_parses(plain) if reads else plain))
    assert expected in outputs, f"{path}: read new rows; `python -m benchmarks.judged_table` says how"


def with_parses(rows: Rows) -> Rows:
    table = parse_texts(pipeline(), rows.texts).combine_chunks()
    parses = ParseRows.from_table(table, rows.code_points, languages_of("en"))
    return Rows(rows.row_ids, rows.texts, rows.code_points, None, parses)


def test_pairs_of_snli_have_both_kinds_and_nothing_that_is_scored(tmp_path):
    def write(name, header, *rows):
        path = tmp_path / f"{name}.tsv.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in (header, *rows)).encode()))

    for name in ("sts12", "sts13", "sts14", "sts15", "stsb", "sick"):
        write(f"sts/{name}", ("sentence1", "sentence2"), ("A cat sleeps.", f'A "{name}" runs.'))
    said = [
        ("A dog barks .", "A dog is loud ."),
        ("A man sits .", "a cat sleeps"),
        ("A girl runs .", "She runs ."),
    ]
    entailed = [(premise, "entailment", text) for premise, text in said]
    others = [(premise, "contradiction", f"Not {premise}") for premise, _ in said[:2]]
    write("nli/snli_dev_test", ("premise", "label", "hypothesis"), *entailed, *others)
    assert [*snli_negatives.pairs(tmp_path)] == [("A dog barks .", "A dog is loud .", "Not A dog barks .")]
    assert snli_negatives.detokenized("A dog does n't bark .") == "A dog doesn't bark."


def test_an_odd_number_of_negations():
    for text in ("He is not here.", "He isn't here.", "Nothing works."):
        assert is_negated(text)
    for text in ("He isn’t here, and nobody is.", "A knot in the Northern note.", "No one CANNOT see it."):
        assert not is_negated(text)


def test_a_command_is_watched_and_an_epoch_trained_on_the_store_that_was_made(tmp_path, monkeypatch, capsys):
    (tmp_path / "corpus").mkdir()
    with gzip.open(tmp_path / "corpus" / "wiki_en-00.txt.gz", "wt") as file:
        file.writelines(f"Sentence number {number} is here.\n" for number in range(40))
    # Ten rows more than there are sentences.
    work, ran, watched = tmp_path / "work", [], growth.watched

    def record(words, module="augment_cli"):
        ran.append([module, *words])
        return watched(words) if words[0] == "ingest" else (2.0, 3 * 2**30)

    monkeypatch.setattr(growth, "watched", record)
    commands = ["--rows", "50", "--commands", "ingest", "crop", "train"]
    monkeypatch.setattr("sys.argv", ["growth", "--data", str(tmp_path), "--work", str(work), *commands])
    growth.main()
    store = ["--store", str(work / "store-50")]
    assert ran[0] == ["augment_cli", "ingest", *store, "--corpus", str(work / "50.txt.gz")]
    assert ran[1] == ["augment_cli", "crop", *store, "--jobs", "2"]
    assert ran[2][:4] == ["train", "static", *store] and "positives=crop" in ran[2] and "--jobs" not in ran[2]
    assert "| 2.0 s | 2.0 s | 3,072 MiB |" in capsys.readouterr().out
    assert [path.name for path in work.iterdir()] == ["50.txt.gz"]
