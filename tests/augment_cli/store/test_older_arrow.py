"""What an older pyarrow cannot hold is refused by name, and reading no row group at all is none of it."""

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.errors import MissingError
from augment_cli.store import parquet
from augment_cli.vectors.stages import as_column, vectors_schema


def test_a_missing_vector_asks_for_the_release_that_holds_it(tmp_path, monkeypatch):
    schema, path = vectors_schema(2), tmp_path / "part.parquet"

    def write(missing):
        columns = [pa.array([0, 1]), as_column(np.ones((2, 2)), np.array([False, missing]))]
        return parquet.write_parquet(path, schema, [pa.Table.from_arrays(columns, schema=schema)])

    monkeypatch.setattr(parquet, "HOLDS_MISSING_VECTORS", False)
    assert write(missing=False) == 2
    with pytest.raises(MissingError, match=r"part\.parquet: texts without a vector need pyarrow 26"):
        write(missing=True)


def test_no_row_group_is_an_empty_table_of_the_same_columns(tmp_path):
    path = tmp_path / "part.parquet"
    parquet.write_parquet(path, pa.schema([("a", pa.int64()), ("b", pa.string())]), [])
    assert parquet.read_parquet(path, ["b"], []).schema.names == ["b"]
    assert parquet.read_parquet(path).num_rows == 0
