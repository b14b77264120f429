"""Files and folders that appear as a whole, arrays in `.work/`, and what an error of the system means."""

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augment_cli.errors import MissingError
from augment_cli.store.files import explain, replace_folder
from augment_cli.store.parquet import write_array


def make(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "file").write_text(text)
    return folder


def read(folder: Path) -> str:
    return (folder / "file").read_text()


def test_a_folder_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    target = tmp_path / "target"
    for text in ("first", "second"):
        replace_folder(make(tmp_path / "new", text), target)
        assert read(target) == text
        assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("step", ["replace", "rmtree"])
def test_a_death_half_way_loses_neither(tmp_path, monkeypatch, step):
    target = make(tmp_path / "target", "old")
    make(tmp_path / "new", "new")

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        if step == "replace":  # after the old folder was moved away
            moves: Iterator[Any] = iter([Path.replace, die])
            patch.setattr(Path, "replace", lambda *arguments: next(moves)(*arguments))
        else:
            calls: Iterator[Any] = iter([shutil.rmtree, die])
            patch.setattr("augment_cli.store.files.shutil.rmtree", lambda *a, **k: next(calls)(*a, **k))
        replace_folder(tmp_path / "new", target)
    kept = {read(folder) for folder in tmp_path.iterdir()}
    assert kept == {"old", "new"}
    if (tmp_path / "new").exists():
        replace_folder(tmp_path / "new", target)
    assert read(target) == "new"


def test_a_file_where_a_folder_must_be_is_named(tmp_path):
    """Not the path below it, which is not there to be moved away."""
    (tmp_path / "parts").write_text("in the way")
    with pytest.raises(NotADirectoryError) as raised:
        (tmp_path / "parts" / "una" / "x").open("wb")
    assert str(explain(raised.value)).startswith(f"{tmp_path / 'parts'}: a file or folder is in the way")


@pytest.mark.parametrize(
    "values", [np.arange(7), np.zeros((0, 3), np.float32), np.arange(6.0).reshape(2, 3).T]
)
def test_an_array_comes_back_as_np_save_has_it(values, tmp_path):
    write_array(tmp_path / "own.npy", values)
    np.save(tmp_path / "numpy.npy", values)
    assert (tmp_path / "own.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "own.npy"), values)


def test_a_full_disk_is_explained_as_one():
    full = Path("/dev/full")  # NumPy alone says "requested and written" here, without a number
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with pytest.raises(OSError, match="No space left") as raised:
        write_array(full, np.arange(1_000_000))
    assert raised.value.errno == errno.ENOSPC
    explained = explain(raised.value)
    assert isinstance(explained, MissingError) and "no room left" in str(explained)
