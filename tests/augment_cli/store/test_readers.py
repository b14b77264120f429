"""The folders of a store open in the real readers, as the README shows."""

import datasets
import duckdb
import polars
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from augment_cli.store.parquet import metadata_of
from augment_cli.store.settings import Settings


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


def test_every_part_says_how_it_was_made_and_nothing_of_when_or_where(store):
    keys = Settings("una", 1).as_json().keys()
    for name in store.stages():
        stage = store.stage(name)
        for index in stage.parts:
            schema = pq.read_schema(store.part_path(name, index))
            assert set(schema.metadata) == {b"augment_cli"}
            assert metadata_of(schema) == stage.settings
            assert stage.settings.keys() == keys
    assert store.stage("una").settings["libraries"].keys() == {"numpy", "pyarrow"}


def test_row_ranges_are_the_corpus_parts_in_every_row_wise_stage(store):
    for name in ("corpus", "tfidf", "una", "una.1"):
        for index, (first, rows) in enumerate(store.parts):
            ids = store.read_part(name, index, ["row_id"])["row_id"].to_pylist()
            assert ids == list(range(first, first + rows))
