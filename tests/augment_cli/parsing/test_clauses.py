"""Clauses of texts, counted by the pipeline that parsed a store."""

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.parsing.stage import count_clauses
from augment_cli.session import Session
from augment_cli.store.store import Store


def test_clauses_with_a_subject_are_counted_where_the_store_is_parsed(tmp_path):
    (tmp_path / "in.txt").write_text("The heron waits.\n", "utf-8")
    texts = ["The heron waits.", "The heron waits while the otter swims.", "Thus!", ""]
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.txt"], IngestOptions())
        assert count_clauses(session.store, texts) is None
        session.parse()
    assert count_clauses(Store.open(tmp_path / "store"), texts).tolist() == [1, 2, 0, 0]
