"""Files and folders that appear as a whole; files that a person names, never replaced by mistake."""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.pack.options import read_pack_recipe
from augment_cli.reports.soundness import verify
from augment_cli.runs import recipe
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store import files
from augment_cli.store.files import (
    explain,
    parse_value,
    read_small_file,
    read_small_text,
    read_toml,
    replace_folder,
    with_every_set,
)
from augment_cli.store.parquet import write_array
from augment_cli.store.store import Store
from train.loading import load_recipe

DEEP = "[" * 3_000 + "]" * 3_000
HOSTILE: dict[str, Any] = {
    "deep": f"x = {DEEP}",
    "deep tables": "[" + ".".join("a" * 3_000) + "]\n",
    "many digits": "x = " + "1" * 5_000,
    "many hexadecimal digits": "x = 0x" + "f" * 5_000,
    "not UTF-8": b"x = '\xff'",
    "not TOML": "x = [",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_reader_of_toml_refuses_it(command, tmp_path, name):
    path, text = tmp_path / "r.toml", HOSTILE[name]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for read in (read_toml, recipe.load, recipe.pipeline_of, read_pack_recipe, load_recipe):
        with pytest.raises(UsageError, match=r"r\.toml: not valid TOML: "):
            read(str(path) if read in (recipe.load, recipe.pipeline_of) else path)
    assert command("run", "r.toml").returncode == 2
    assert command("pack", "--recipe", "r.toml").returncode == 2


@pytest.mark.parametrize("value", [DEEP, DEEP[:3_000], "1" * 5_000, "[" + "1" * 5_000 + "]"])
def test_a_change_that_cannot_be_used_is_refused(command, value):
    for load in (
        lambda: recipe.load("default", [f"una.beta={value}"]),
        lambda: load_recipe("una", [f"batch={value}"]),
    ):
        with pytest.raises(UsageError, match=r"^--set: the value .{60}… cannot be used: "):
            load()
    done = command("run", "default", "--set", f"una.beta={value}", "--dry-run")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_several_changes_behind_one_set(command):
    recipe_run = ("run", "default", "--dry-run", "--set", "una.beta=0.4")
    assert command(*recipe_run, "una-pos.beta=0.3", "una.seed=7").returncode == 0
    done = command(*recipe_run, "una-pos.beta=2")
    assert done.returncode == 2 and "--set una-pos.beta=2: una-pos: --beta 2" in done.stderr
    done = command("adapt", "--set", "steps=1", "batch=0", "nowhere.txt")
    assert "nowhere.txt" in done.stderr and "batch=0" not in done.stderr  # a change, and no file
    assert with_every_set(["--set=a=1", "b=2", "--out=c"]) == ["--set=a=1", "--set", "b=2", "--out=c"]
    assert with_every_set(["--set", "a=1", "file", "b=2"]) == ["--set", "a=1", "file", "b=2"]


def test_values_as_they_are():
    values = {"1": 1, " nt-xent ": "nt-xent", '"a b"': "a b", "[1, [2]]": [1, [2]], "": "", "[1": "[1"}
    for text, value in (values | {str(most): most for most in (2**63 - 1, -(2**63))}).items():
        assert parse_value(text) == value


def test_a_run_has_no_other_name_by_a_change(command):
    done = command("run", "default", "--set", 'una.name="x"', "--dry-run")
    assert done.returncode == 2 and "--set una.name=" in done.stderr and "renamed in its file" in done.stderr


def test_a_seed_is_a_number_before_it_comes_into_a_manifest(command, tmp_path):
    (tmp_path / "in.txt").write_text("the river flows\n" * 3)
    (tmp_path / "r.toml").write_text('[[run]]\naugmentation = "crop"\n')
    for change in ('seed="x"', "seed=1.5", "seed=true", "seed=[1]", 'draw="x"', "fit=[1]", "parses={a = 1}"):
        done = command("run", "r.toml", "--corpus", "in.txt", "--set", f"crop.{change}", "--jobs", "1")
        assert done.returncode == 2 and f"crop: '{change.partition('=')[0]}'" in done.stderr, done.stderr
    done = command("run", "r.toml", "--corpus", "in.txt", "--set", "crop.seed=7", "--jobs", "1")
    assert done.returncode == 0


def test_a_pack_recipe_is_a_table_of_strings_and_numbers(tmp_path):
    path = tmp_path / "pack.toml"
    path.write_text('[pack]\npositives = ["corpus", "uda"]\nmin_positive = 0\nmargin = 0.1\nscores = true\n')
    given = {"positives": ["corpus", "uda"], "min_positive": 0, "margin": 0.1, "scores": True}
    assert read_pack_recipe(path) == given
    wrong = ("positives = [[1]]", 'positives = "uda"', "positive = 1", "margin = true", "scores = 1")
    values = ("", "pack = [1]", 'pack = "x"', "pack = 1", "[[pack]]", "other = 1")
    for text in (*values, *(f"[pack]\n{line}" for line in wrong)):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"pack\.toml: .*\[pack\]"):
            read_pack_recipe(path)
    with pytest.raises(UsageError, match="no such file"):
        read_pack_recipe(tmp_path / "nowhere.toml")


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match="is not a file"):
            read_small_file(path)
    (tmp_path / "words.txt").write_bytes("é\r\nb\rc\n".encode())
    assert read_small_text(tmp_path / "words.txt") == "é\nb\nc\n"
    monkeypatch.setattr(files, "MOST_BYTES", 8)
    assert len(read_small_file(tmp_path / "words.txt")) == 8
    (tmp_path / "words.txt").write_bytes(b"123456789")
    with pytest.raises(OSError, match="more than 0 MB"):
        read_small_file(tmp_path / "words.txt")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_no_command_waits_for_a_pipe_or_reads_a_device(command, tmp_path, kind):
    (tmp_path / "in.txt").write_text("\n".join(f"the river {n} flows by house {n}" for n in range(20)))
    assert command("ingest", "--corpus", "in.txt").returncode == 0
    if kind == "pipe":
        os.mkfifo(tmp_path / "x.toml")
    else:
        (tmp_path / "x.toml").symlink_to("/dev/zero")
    commands = ("pack --recipe", "run", "una --keep", "una --avoid")
    for code, line in ((4, "judge --read"), *((2, line) for line in commands)):
        words = line.split()
        done = command(*words, "x.toml")
        assert done.returncode == code and "it is not a file" in done.stderr, (words, done.stderr)


LINES = [f"the river number {n} flows by house {n * n}" for n in range(12)]
COMMANDS = {"report": "out.html", "pack": "out.jsonl"}


@pytest.fixture
def here(tmp_path):
    (tmp_path / "in.csv").write_text("anchor,positive\n" + "".join(f"{line},{line}\n" for line in LINES))
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.csv"], IngestOptions(text_column="anchor"))
        session.augment(make_run("crop"))
        session.augment(make_run("una", radius=4))
    return tmp_path


def contents_of(folder):
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".work" not in path.parts
    }


def run(command, name, out):
    return command(name, "--out", out, *(["--labels", "kind", "--jobs", "1"] if name == "pack" else []))


@pytest.mark.parametrize(
    "words", ["una --name {}", "pack --labels kind --name {}", "report --out {}.html", "crop --store {}"]
)
def test_a_name_that_is_too_long_is_refused_as_one(command, here, words):
    done = command(*words.format("a" * 300).split(), *([] if "--store" in words else ["--store", "store"]))
    assert done.returncode == 2, done.stderr
    assert "too long" in done.stderr or "at most 200" in done.stderr
    assert "repair" not in done.stderr and verify(Store.open(here / "store")) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_regular_file_is_refused(command, here, name):
    out = COMMANDS[name]
    os.mkfifo(here / "pipe")
    (here / "folder").mkdir()
    for kind, word in (("pipe", "a pipe, a socket or a device"), ("folder", "is a folder")):
        (here / out).symlink_to(here / kind)
        done = run(command, name, out)
        assert done.returncode == 2 and word in done.stderr, done.stderr
        assert (here / out).is_symlink()
        (here / out).unlink()
    (here / "pipe").rename(here / out)
    assert run(command, name, out).returncode == 2 and (here / out).is_fifo()


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_put_into_a_store(command, here, name):
    with Session(here / "other", Engine(1)) as session:
        session.ingest([here / "in.csv"], IngestOptions(text_column="anchor"))
    (here / "link").symlink_to(here / "store" / "una")
    (here / COMMANDS[name]).symlink_to("store/manifest.json")
    before = contents_of(here)
    for folders, words in (
        (("store", "store/una", "link", "."), "lies in the store"),
        (("other", "other/corpus", "other/.work"), "other is a store"),
    ):
        for folder in folders:
            done = run(command, name, f"{folder}/{COMMANDS[name]}")
            assert done.returncode == 2 and words in done.stderr, (folder, done.stderr)
    assert contents_of(here) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_only_an_earlier_file_of_its_own_is_replaced(command, here, name):
    out = here / COMMANDS[name]
    out.write_text("<!doctype html><title>Report of mine</title>\n")
    done = run(command, name, out)
    assert done.returncode == 2 and "exists, and was not written by this command" in done.stderr
    assert "Report of mine" in out.read_text()
    out.write_text("")  # as mktemp makes it
    for _ in range(2):
        assert run(command, name, out).returncode == 0
    assert len(out.read_bytes()) > 100


def test_a_packed_file_never_replaces_the_corpus(command, here):
    before = (here / "in.csv").read_bytes()
    done = run(command, "pack", "in.csv")
    assert done.returncode == 2 and "that the corpus of store was read from" in done.stderr
    assert (here / "in.csv").read_bytes() == before
    (here / "again.csv").write_bytes(before)  # of another name, with the columns of a packed file
    assert run(command, "pack", "again.csv").returncode == 0


def make(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "file").write_text(text)
    return folder


def read(folder: Path) -> str:
    return (folder / "file").read_text()


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
