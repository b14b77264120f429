"""Stores: readers that keep what they read, row groups of any size."""

import datasets
import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError
from augment_cli.ingest import IngestOptions, writer
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store import parquet
from augment_cli.store.store import Store


def rows_of_duckdb(folder):
    with duckdb.connect() as connection:
        found = connection.sql(f"select * from '{folder}/*.parquet'")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def rows_of_datasets(folder):
    cache = str(folder.parent.parent / "cache")
    return datasets.load_dataset("parquet", data_dir=str(folder), split="train", cache_dir=cache).to_list()


READERS = {
    "polars": lambda folder: polars.scan_parquet(f"{folder}/*.parquet").collect().to_dicts(),
    "duckdb": rows_of_duckdb,
    "pyarrow": lambda folder: pyarrow.dataset.dataset(folder, format="parquet").to_table().to_pylist(),
    "datasets": rows_of_datasets,
}


@pytest.mark.parametrize("stage", ["corpus", "una", "una.1", "tfidf", "terms"])
@pytest.mark.parametrize("reader", READERS)
def test_rows_are_those_that_we_read(store, reader, stage):
    assert (
        READERS[reader](store.path / stage) == store.read(stage).to_pylist() == store.frame(stage).to_dicts()
    )


LINES = [f"the river number {n} flows by house {n * n} and the heron waits" for n in range(9_000)]


def made(path, corpus):
    with Session(path, Engine(1)) as session:
        session.ingest([corpus], IngestOptions(part_rows=8_500))
        session.fit()
        session.augment(make_run("crop"))
    return Store.open(path)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(parquet, "_MAX_ROW_GROUP_BYTES", 300_000)


def test_what_is_split_is_read_as_one(tmp_path, small, monkeypatch):
    corpus = tmp_path / "in.txt"
    corpus.write_text("\n".join(LINES) + "\n")
    split = made(tmp_path / "split", corpus)
    with monkeypatch.context() as patch:
        patch.setattr(parquet, "_MAX_ROW_GROUP_BYTES", 1 << 30)
        whole = made(tmp_path / "whole", corpus)
        for name in split.stages():
            assert split.read(name).equals(whole.read(name)), name
    path = split.part_path("corpus", 0)
    assert pq.ParquetFile(path).num_row_groups > 4
    assert parquet.row_group_sizes(path) == [8_192, 308]
    assert split.read_part("corpus", 0, row_groups=[1])["row_id"].to_pylist() == [*range(8_192, 8_500)]
    assert [table.num_rows for table in split.iterate_part("crop", 0, ["text"])] == [8_192, 308]
    rows = [5_000, 8_191, 8_192]
    assert split.read_rows("corpus", 0, rows)["text"].to_pylist() == [LINES[row] for row in rows]
    assert verify(split) == []


def test_a_file_of_the_users_is_read_in_slices(tmp_path, small):
    pq.write_table(pa.table({"text": LINES}), tmp_path / "mine.parquet", row_group_size=9_000)
    with parquet.open_parquet(tmp_path / "mine.parquet", is_ours=False) as file:
        assert 1_000 < parquet.rows_in_memory(file) < 8_192
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "mine.parquet"], IngestOptions())
    assert Store.open(tmp_path / "store").read("corpus")["text"].to_pylist() == LINES


def test_texts_that_no_array_holds_are_refused_before_the_corpus_is_written(tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("\n".join(LINES) + "\n")
    monkeypatch.setattr(writer, "_MOST_TEXT", 1_000)
    message = r"in\.txt, from line 1: 8,192 texts in a row take more than 1,000"
    with pytest.raises(BadInputError, match=message), Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.txt"], IngestOptions())
