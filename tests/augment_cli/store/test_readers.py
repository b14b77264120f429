"""The folders of a store open in the real readers, as the README shows."""

import pytest

from augment_cli.store.schema import metadata_of

STAGES = ["corpus", "una", "una.1", "tfidf", "terms"]


@pytest.mark.parametrize("stage", STAGES)
def test_polars(store, stage):
    import polars

    frame = polars.scan_parquet(f"{store.path}/{stage}/*.parquet").collect()
    assert frame.equals(store.frame(stage))


@pytest.mark.parametrize("stage", STAGES)
def test_duckdb(store, stage):
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.sql(f"select * from '{store.path}/{stage}/*.parquet'").fetchall()
    columns = store.read(stage).to_pydict().values()
    assert rows == list(zip(*columns, strict=True))


@pytest.mark.parametrize("stage", STAGES)
def test_pyarrow_dataset(store, stage):
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(store.path / stage, format="parquet").to_table()
    assert table.equals(store.read(stage))


@pytest.mark.parametrize("stage", STAGES)
def test_datasets(store, stage, tmp_path):
    import datasets

    loaded = datasets.load_dataset(
        "parquet", data_dir=str(store.path / stage), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.to_list() == store.read(stage).to_pylist()


def test_every_part_says_how_it_was_made_and_nothing_of_when_or_where(store):
    import pyarrow.parquet as pq

    for name in store.stages():
        stage = store.stage(name)
        for index in stage.parts:
            schema = pq.read_schema(store.part_path(name, index))
            assert set(schema.metadata) == {b"augment_cli"}
            assert metadata_of(schema) == stage.settings
            assert set(stage.settings) == {
                "schema",
                "stage",
                "version",
                "parameters",
                "seed",
                "inputs",
                "resources",
                "libraries",
                "fingerprint",
            }
    assert store.stage("una").settings["libraries"].keys() == {"numpy", "pyarrow"}


def test_row_ranges_are_the_corpus_parts_in_every_row_wise_stage(store):
    for name in ("corpus", "tfidf", "una", "una.1"):
        for index, (first, rows) in enumerate(store.parts):
            ids = store.read_part(name, index, ["row_id"])["row_id"].to_pylist()
            assert ids == list(range(first, first + rows))
