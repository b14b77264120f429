"""Results that cannot be written: said before anything is loaded; a full disk: in our words."""

import os

import pytest

from augment_cli.errors import BadInputError, MissingError
from eval.command import main
from eval.results import places


@pytest.fixture
def refused(tmp_path, capsys):
    """The exit code and the line of an evaluation of a model that is not there."""

    def run(*options):
        with pytest.raises(SystemExit) as stop:
            main([str(tmp_path / "none"), "--minimal-pairs", *map(str, options)])
        return stop.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize("name", ["file", "file/x", "file/x/y"])
@pytest.mark.parametrize("option", ["--out", "--cache"])
def test_a_file_where_a_folder_must_be(tmp_path, refused, option, name):
    (tmp_path / "file").write_text("a file")
    code, line = refused("--out", tmp_path / "results", option, tmp_path / name)
    assert (
        code == 4 and f"{tmp_path / 'file'}: is not a folder" in line and f"choose another {option}" in line
    )
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["table.md", "scores.png"])
def test_a_folder_or_a_pipe_where_a_file_must_be(tmp_path, refused, name):
    (tmp_path / "table.md").mkdir()
    os.mkfifo(tmp_path / "scores.png")
    kind = "a folder"
    if name == "scores.png":
        (tmp_path / "table.md").rmdir()
        kind = "a pipe or a device"
    code, line = refused("--out", tmp_path)
    assert code == 4 and f"{name}: is {kind}, where a file is written; move it away" in line


def test_a_link_that_leads_nowhere(tmp_path, refused):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    code, line = refused("--out", tmp_path / "link")
    assert code == 4 and f"{tmp_path / 'link'}: is not a folder" in line


def test_a_folder_that_may_not_be_written(tmp_path, refused, monkeypatch):
    access = os.access  # root may write anywhere, so the answer is changed and not the folder
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path and access(path, mode))
    code, line = refused("--out", tmp_path / "a" / "b")
    assert code == 6 and f"{tmp_path}: may not be written" in line


def test_a_sound_folder_is_not_touched(tmp_path):
    places.check_results(tmp_path / "a" / "b", tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (28, MissingError, "no room left"),
        (30, MissingError, "not allowed"),
        (13, MissingError, "not allowed"),
        (20, BadInputError, "in the way"),
        (5, MissingError, "refused"),
    ],
)
def test_the_command_says_what_the_disk_said(tmp_path, capsys, monkeypatch, number, kind, words):
    def fail(out, cache):
        raise OSError(number, os.strerror(number), str(out / "table.md"))

    monkeypatch.setattr("eval.command.check_results", fail)
    with pytest.raises(SystemExit) as stop:
        main(["model", "--minimal-pairs", "--out", str(tmp_path)])
    shown = capsys.readouterr().err
    assert stop.value.code == kind.exit_code and words in shown and str(tmp_path / "table.md") in shown


def test_an_error_without_a_number_is_a_bug_and_stays_one(monkeypatch):
    def fail(out, cache):
        raise OSError("ours")

    monkeypatch.setattr("eval.command.check_results", fail)
    with pytest.raises(OSError, match="ours"):
        main(["model", "--minimal-pairs"])
