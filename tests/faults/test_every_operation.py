"""A failure at file operation 1, 2, 3 … of every writer, until the run passes (as SQLite tests itself)."""

import itertools
import shutil

import pytest

from tests.helpers.file_faults import ERRORS, Faults, failed_at, injected
from tests.helpers.undisturbed import check_after_failure, contents, run_all


def test_the_operations_of_a_whole_run_are_counted(corpus_file, tmp_path, expected):
    with injected(Faults()) as faults:
        run_all(tmp_path / "store", corpus_file)
    assert contents(tmp_path / "store") == expected
    assert {"open", "write", "flush", "close", "fsync", "mkdir", "replace", "flock"} <= set(faults.names)
    assert faults.count > 200


def fail_at(number, error, store, corpus_file, expected):
    """One failing run, then an undisturbed one. Returns whether the failure was reached."""
    faults, has_ended = failed_at(number, error, lambda: run_all(store, corpus_file))
    if has_ended and faults.was_hit:
        # Only cleaning up may fail unnoticed (the next run does it again), or making a folder that is there.
        assert faults.names[number - 1] in ("unlink", "rmdir", "os.open", "mkdir"), faults.names[number - 1]
    check_after_failure(store)
    run_all(store, corpus_file)
    assert contents(store) == expected, faults.names[number - 1]
    return faults.was_hit


@pytest.mark.parametrize(("number", "error"), [*zip(range(1, 600, 118), [*ERRORS] * 2, strict=True)])
def test_some_operations_fail(number, error, memory_folder, corpus_file, expected):
    fail_at(number, error, memory_folder / "store", corpus_file, expected)


@pytest.mark.slow
@pytest.mark.parametrize("error", list(ERRORS))
def test_every_operation_fails(error, memory_folder, corpus_file, expected):
    # All operations for a crash and a full disk; every fifth for a disk that fails.
    for number in itertools.count(1, 5 if error == "EIO" else 1):
        store = memory_folder / str(number)
        if not fail_at(number, error, store, corpus_file, expected):
            break
        shutil.rmtree(store)
    assert number > 500
