"""What a machine may refuse: room, permission, fsync, a rename. A clear error, nothing half-written."""

import contextlib
import errno
import os
import resource
import shutil
import subprocess

import pytest

from augment_cli.store.files import explain
from augment_cli.store.store import Store
from tests.helpers.commands import in_a_process as command
from tests.helpers.commands import typed
from tests.helpers.undisturbed import check_after_failure, contents, run_all


@contextlib.contextmanager
def mounted(folder, options):
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("may not mount a file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mount") is None, reason="no mount here")
@pytest.mark.parametrize("kilobytes", [24, 100, 180, 260])
def test_a_full_disk(tmp_path, kilobytes):
    """A real file system of a few kilobytes; made larger, the same command finishes."""
    disk = tmp_path / "disk"
    with mounted(disk, f"size={kilobytes}k"):
        result = command("una", "--radius", "1%", "--store", disk / "store", cwd=tmp_path)
        assert result.returncode == 6, result.stderr
        assert "no room left (No space left on device); free some disk space" in result.stderr
        assert "Traceback" not in result.stderr
        check_after_failure(disk / "store")
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        assert command("una", "--radius", "1%", "--store", disk / "store", cwd=tmp_path).returncode == 0
        assert command("verify", "--store", disk / "store", cwd=tmp_path).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mount") is None, reason="no mount here")
def test_a_read_only_file_system(tmp_path):
    disk = tmp_path / "disk"
    with mounted(disk, "size=10m"):
        assert command("una", "--radius", "1%", "--store", disk / "store", cwd=tmp_path).returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        result = command("una", "--radius", "1%", "--name", "x", "--store", disk / "store", cwd=tmp_path)
        assert result.returncode == 6
        assert "not allowed (Read-only file system); make it writable or use another --store" in result.stderr
        # Reading needs no writing.
        for reader in (["status"], ["stats", "una"], ["inspect", "una"], ["verify"]):
            assert command(*reader, "--store", disk / "store", cwd=tmp_path).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("limit", [2_000, 60_000, 150_000])
def test_a_limit_on_file_size(tmp_path, limit):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = command("una", "--radius", "1%", cwd=tmp_path, before=limited)
    assert result.returncode == 6, result.stderr
    assert "no room left (File too large)" in result.stderr
    check_after_failure(tmp_path / "store")
    assert command("una", "--radius", "1%", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("fsync", errno.EINVAL, "the file system refused"),
        ("fsync", errno.ENOTSUP, "the file system refused"),
        ("replace", errno.EXDEV, "lies on another file system than the store's .work folder"),
        ("replace", errno.EACCES, "not allowed"),
        ("mkdir", errno.EROFS, "not allowed"),
    ],
)
def test_a_file_system_that_refuses_an_operation(
    tmp_path, corpus_file, expected, monkeypatch, name, number, message
):
    def refuse(*arguments, **options):
        raise OSError(number, os.strerror(number), *map(str, arguments[:1]))

    with monkeypatch.context() as patched, pytest.raises(OSError, match=r".") as raised:
        patched.setattr(os, name, refuse)
        run_all(tmp_path / "store", corpus_file)
    assert message in str(explain(raised.value))
    assert explain(raised.value).exit_code == 6
    assert [path for path in (tmp_path / "store").rglob("*/part-*") if ".work" not in path.parts] == []
    run_all(tmp_path / "store", corpus_file)
    assert contents(tmp_path / "store") == expected


@pytest.mark.parametrize("place", ["corpus", "una", ".work", "manifest.json", "una/part-00000.parquet"])
def test_a_file_or_folder_in_the_way(tmp_path, corpus_file, place):
    """A file where a folder should be, or the other way round."""
    store = tmp_path / "store"
    ingest = ["--corpus", corpus_file, "--max-rejects", "1", "--store", store]
    una = ["una", "--radius", "5", "--background", "none", "--jobs", "1", *ingest]
    if place != "corpus":
        assert typed("augment-cli", "ingest", *ingest).returncode == 0
    path = store / place
    if path.is_dir():
        shutil.rmtree(path)
    elif path.is_file():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix:
        path.mkdir()
    else:
        path.write_text("in the way")
    result = typed("augment-cli", *una)
    assert result.returncode == 4, result.stderr
    assert "Traceback" not in result.stderr and "store" in result.stderr
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if place != "manifest.json":
        assert typed("augment-cli", *una).returncode == 0
        assert Store.open(store).has("una")
