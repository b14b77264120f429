"""Arrays in `.work/`: as NumPy writes them; a full disk is one."""

import errno

import numpy as np
import pytest

from augment_cli.errors import MissingError
from augment_cli.store.files import explain
from augment_cli.store.parquet import write_array


@pytest.mark.parametrize(
    "values", [np.arange(7), np.zeros((0, 3), np.float32), np.arange(6.0).reshape(2, 3).T]
)
def test_an_array_comes_back_as_np_save_has_it(values, tmp_path):
    write_array(tmp_path / "own.npy", values)
    np.save(tmp_path / "numpy.npy", values)
    assert (tmp_path / "own.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "own.npy"), values)


def test_a_full_disk_is_explained_as_one():
    from pathlib import Path

    full = Path("/dev/full")  # NumPy alone says "requested and written" here, without a number
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with pytest.raises(OSError, match="No space left") as raised:
        write_array(full, np.arange(1_000_000))
    assert raised.value.errno == errno.ENOSPC
    explained = explain(raised.value)
    assert isinstance(explained, MissingError) and "no room left" in str(explained)
