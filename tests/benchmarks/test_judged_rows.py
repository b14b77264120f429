"""Judged rows are whole, of what the augmentations make today, and the document's table is made from them."""

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
from augment_cli.parsing.tables import parse_texts
from augment_cli.reports.verdicts import read, summary
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.tables import as_table
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints
from benchmarks.judged_table import DOCUMENT, JUDGED, table


@pytest.mark.slow
def test_the_documents_table_is_the_one_that_the_judged_rows_give():
    assert table() in DOCUMENT.read_text("utf-8"), "put in what `python -m benchmarks.judged_table` prints"


def test_every_judged_row_has_a_verdict_and_its_texts():
    rows = read(sorted(JUDGED.glob("*.jsonl")))
    assert len(rows) >= 400
    for row in rows:
        assert row.verdict is not None and row.version is not None
        assert row.original and row.text and row.original != row.text
        assert row.verdict != "wrong" or row.note
    assert len({(row.store, row.stage, row.row_id) for row in rows}) == len(rows)


OF_A_CORPUS = {"una", "uda", "entity-swap", "paraphrase"}
# Of one reading of parts of speech or the other: nobody noted whether the store had a parse.
READINGS: tuple[dict[str, Any], ...] = ({}, {"parts_of_speech": "parse"}, {"parts_of_speech": "words"})
SEED = 42


@cache
def pipeline() -> Any:
    import spacy

    return spacy.load(shipped_pipeline())


def judged(path: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


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
