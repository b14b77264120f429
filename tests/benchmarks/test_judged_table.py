"""The judged rows in the checkout are whole, and the document's table is made from them."""

import pytest

from augment_cli.reports.verdicts import read
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
