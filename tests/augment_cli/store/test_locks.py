"""What lies where a store has its lock: it is emptied and written, so only a file of the store may be it."""

import os
import shutil
import socket

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store import contents
from augment_cli.store.files import hold_lock
from augment_cli.store.store import Store


def place(tmp_path):
    lock = tmp_path / "store" / ".work" / "lock"
    lock.parent.mkdir(parents=True)
    return lock


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("target", ["../manifest.json", "../../absent", "lock"])
def test_a_link_is_refused_and_nothing_behind_it_is_touched(tmp_path, target, shared):
    lock = place(tmp_path)
    (tmp_path / "store" / "manifest.json").write_text("kept")
    lock.symlink_to(target)
    with pytest.raises(BadInputError, match=r"/\.work/lock: is a link, .*delete it"), hold_lock(lock, shared):
        pass
    assert (tmp_path / "store" / "manifest.json").read_text() == "kept"
    assert lock.is_symlink() and not (tmp_path / "absent").exists()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_file_is_refused_at_once(tmp_path, kind, monkeypatch):
    lock = place(tmp_path)
    if kind == "pipe":
        os.mkfifo(lock)
    else:
        monkeypatch.chdir(lock.parent)  # a socket's path may have no more than a hundred characters
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("lock")
    with pytest.raises(BadInputError, match=r"a pipe, a socket .*delete it"), hold_lock(lock):
        pass


def test_a_file_is_held_by_one(tmp_path):
    lock = place(tmp_path)
    with hold_lock(lock):
        assert lock.read_text() == str(os.getpid())
        with pytest.raises(MixError, match=f"process {os.getpid()}"), hold_lock(lock):
            pass
    with (
        hold_lock(lock, shared=True),
        hold_lock(lock, shared=True),
        pytest.raises(MixError, match="another run"),
        hold_lock(lock),
    ):
        pass


def test_a_reader_is_told_that_the_store_is_being_rewritten(command, store, monkeypatch):
    """As while `ingest --overwrite` deletes what the reader has seen in the manifest."""
    gone = store.part_path("una", 0)
    gone.unlink()
    arguments = ["inspect", "una", "--store", store.path]
    assert "the file is missing" in command(*arguments).stderr  # nobody writes
    with hold_lock(store.path / ".work" / "lock"):
        result = command(*arguments)
    assert result.returncode == 5 and len(result.stderr.splitlines()) == 1
    assert f"another run (process {os.getpid()}) is rewriting this store" in result.stderr


def test_what_another_run_is_writing_is_not_judged(command, store):
    """As while `una --overwrite` writes: files that no manifest names, and a stage that is not finished."""
    stranger = store.path / "una" / "part-00009.parquet"
    shutil.copy(store.part_path("una", 0), stranger)
    assert "move it away" in command("verify", "--store", store.path).stderr
    with hold_lock(lock := store.path / ".work" / "lock"):
        lock.write_text("1")  # another process
        result = command("verify", "--store", store.path)
    assert result.returncode == 5 and "another run (process 1) is writing to this store" in result.stderr
    assert "away" not in result.stderr + result.stdout
    stranger.unlink()
    with hold_lock(lock):
        lock.write_text("1")
        assert command("verify", "--store", store.path).returncode == 0


def test_a_stage_that_was_made_anew_since_is_not_called_damaged(store):
    reader = Store.open(store.path)
    with Session(store.path, Engine(1), overwrite=True) as session:
        session.augment(make_run("una", radius=4, seed=9), draws=2)
    with pytest.raises(MixError, match="another run has made 'una' anew"):
        reader.read("una")
    assert verify(reader) == []  # it reads the manifest again


def test_a_part_that_goes_while_it_is_digested_is_missing(store, monkeypatch):
    def gone(path):
        path.unlink()
        return path.open("rb")

    contents._VERIFIED.clear()
    monkeypatch.setattr(contents, "sha256_of_file", gone)
    with pytest.raises(BadInputError, match="the file is missing"):
        store.read("una")
