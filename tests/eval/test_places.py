"""Results that cannot be written: said before anything is loaded."""

import os

import pytest

from eval.command import main


@pytest.fixture
def refused(tmp_path, capsys):
    """The exit code and the line of an evaluation of a model that is not there."""

    def run(*options):
        with pytest.raises(SystemExit) as stop:
            main([str(tmp_path / "none"), "--minimal-pairs", *map(str, options)])
        return stop.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(("option", "name"), [("--out", "file/x"), ("--cache", "file")])
def test_a_file_where_a_folder_must_be(tmp_path, refused, option, name):
    (tmp_path / "file").write_text("a file")
    code, line = refused("--out", tmp_path / "results", option, tmp_path / name)
    assert (
        code == 4 and f"{tmp_path / 'file'}: is not a folder" in line and f"choose another {option}" in line
    )
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["table.md", "scores.png"])
def test_a_folder_or_a_pipe_where_a_file_must_be(tmp_path, refused, name):
    make, kind = (os.mkdir, "a folder") if name == "table.md" else (os.mkfifo, "a pipe or a device")
    make(tmp_path / name)
    code, line = refused("--out", tmp_path)
    assert code == 4 and f"{name}: is {kind}, where a file is written; move it away" in line


def test_a_link_that_leads_nowhere(tmp_path, refused):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    code, line = refused("--out", tmp_path / "link")
    assert code == 4 and f"{tmp_path / 'link'}: is not a folder" in line
