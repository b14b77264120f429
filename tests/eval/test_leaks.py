"""Evaluation sentences in the training data; results that cannot be written."""

import gzip
import os

import pytest

from augment_cli.errors import BadInputError, MissingError
from eval import leaks
from eval.command import main
from eval.tasks.table import Table
from tests.helpers.stored_results import REGISTRY


def test_leaks_are_found_exactly_and_without_case_and_punctuation():
    columns = {
        "split": ["test", "test", "train"],
        "sentence1": ["A dog runs.", "a  cat", "never looked at"],
        "sentence2": ["A man plays!", "...", "nor this"],
    }
    training = enumerate(["a DOG runs", "A dog runs.", "a cat", "nor this", "...", "nothing"], start=10)
    (leak,) = leaks.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], training)
    assert (leak.sentences, leak.exact, leak.normalised) == (4, 3, 3)
    assert leak.examples[0] == ("A dog runs.", 11)
    (near,) = leaks.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], iter([(7, "a dog, RUNS")]))
    assert (near.exact, near.normalised, near.examples) == (0, 1, [("A dog runs.", 7)])


def test_leaks_are_read_from_stores_and_text_files(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress("first\r\nse cond\nthird\u2028still third\n".encode()))
    assert list(leaks.training_sentences(path)) == [
        (1, "first"),
        (2, "se cond"),
        (3, "third\u2028still third"),
    ]
    with pytest.raises(MissingError, match="name a store folder"):
        list(leaks.training_sentences(tmp_path / "none"))
    path.write_bytes(b"\x1f\x8bdamaged")
    with pytest.raises(BadInputError, match="not readable text"):
        list(leaks.training_sentences(path))


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
