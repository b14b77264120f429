"""The judged rows in the checkout are whole, and the document's table is made from them."""

import pytest

from augment_cli.reports.verdicts import read
from benchmarks.judged_table import BEGIN, DOCUMENT, END, JUDGED, measured, table


@pytest.mark.slow
def test_the_documents_table_is_the_one_that_the_judged_rows_give():
    text = DOCUMENT.read_text("utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == table(), "run `python -m benchmarks.judged_table --write`"


def test_every_judged_row_has_a_verdict_and_its_texts():
    rows = read(sorted(JUDGED.glob("*.jsonl")))
    assert len(rows) >= 400
    for row in rows:
        assert row.verdict is not None and row.version is not None
        assert row.original and row.text and row.original != row.text
        assert row.verdict != "wrong" or row.note
    assert len({(row.store, row.stage, row.row_id) for row in rows}) == len(rows)


def test_the_numbers_of_the_table_are_found():
    numbers = measured()
    assert {"synonym", "yoda", "adjective-antonym"} <= set(numbers)
    assert all(row["changed %"] for row in numbers.values())
