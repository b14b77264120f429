"""Recipes, word lists and judgements: read to an end, and never a traceback whatever is in them."""

import os
from typing import Any

import pytest

from augment_cli.errors import UsageError
from augment_cli.pack import read_pack_recipe
from augment_cli.runs import recipe
from augment_cli.store import named_files
from augment_cli.store.named_files import parse_value, read_small_file, read_small_text, read_toml
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


def test_draws_end_where_the_option_does(command, tmp_path):
    (tmp_path / "r.toml").write_text('[[run]]\naugmentation = "crop"\ndraws = 10000\n')
    assert recipe.load(str(tmp_path / "r.toml"))[0].draws == 10_000
    with pytest.raises(UsageError, match="a whole number from 1 to 10,000"):
        recipe.load(str(tmp_path / "r.toml"), ["crop.draws=10001"])
    assert command("crop", "--draws", "10001").returncode == 2


def test_a_pack_recipe_is_a_table_of_strings_and_numbers(tmp_path):
    path = tmp_path / "pack.toml"
    values = ("pack = [1]", 'pack = "x"', "pack = 1", "[[pack]]", "other = 1")
    for text in (*values, "[pack]\npositives = [[1]]"):
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
    monkeypatch.setattr(named_files, "MOST_BYTES", 8)
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


def test_a_home_that_nobody_has_is_said(command, tmp_path):
    (tmp_path / "in.txt").write_text("the river flows\n" * 3)
    done = command("una", "--corpus", "in.txt", "--keep", "~nobody-of-this-name/words.txt")
    assert done.returncode == 2 and "--keep ~nobody-of-this-name" in done.stderr
