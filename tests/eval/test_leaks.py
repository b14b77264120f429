"""Evaluation sentences that occur in the training data are counted and shown."""

import gzip

import pytest

from augment_cli.errors import BadInputError, MissingError
from eval import leaks
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
