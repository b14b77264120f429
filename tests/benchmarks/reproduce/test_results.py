"""The file of results: what one process writes is there for all, whole and in order."""

import dataclasses
import json
import multiprocessing

import pytest

from augment_cli.errors import BadInputError
from benchmarks.reproduce.units import TRAINING, Result, Results

WRITERS, EACH = 3, 8


def result(row="simcse", seed=42, evaluation="sts", key="abc", score=0.5):
    """A small result; `data` and `scores` are not in the order of their names."""
    return Result(row, seed, evaluation, key, {"una": "u", "corpus": "c"}, {"stsb": score, "sickr": 0.1}, {})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "cpu.jsonl"


def test_what_is_written_is_read_again(path):
    Results(path).write(result())
    assert Results(path).find("abc", "sts", {"corpus": "c", "una": "u"}) == result()
    assert Results(path).find("abc", TRAINING, {"corpus": "c", "una": "u"}) is None
    assert Results(path).find("abc", "sts", {"corpus": "other", "una": "u"}) is None


def test_the_file_is_sorted_whatever_the_order_of_writing(path, tmp_path):
    written = [
        result("una", 0),
        result("simcse", 42, TRAINING),
        result("simcse", 7, key="a"),
        result("simcse", 42, key="z"),
        result("simcse", 42, key="b"),
    ]
    written = [dataclasses.replace(one, key=f"{one.key}{number}") for number, one in enumerate(written)]
    for one in written:
        Results(path).write(one)
    backwards = Results(tmp_path / "backwards.jsonl")
    for one in reversed(written):
        backwards.write(one)
    assert path.read_bytes() == backwards.path.read_bytes()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["row"], line["seed"], line["evaluation"], line["key"]) for line in lines] == [
        ("simcse", 7, "sts", "a2"),
        ("simcse", 42, "sts", "b4"),
        ("simcse", 42, "sts", "z3"),
        ("simcse", 42, TRAINING, "abc1"),
        ("una", 0, "sts", "abc0"),
    ]
    assert list(lines[0]["scores"]) == ["sickr", "stsb"]


def test_a_newer_result_replaces_the_older_of_the_same_training_and_evaluation(path):
    results = Results(path)
    results.write(result(score=0.5))
    results.write(result(score=0.6))
    assert len(path.read_text().splitlines()) == 1
    assert Results(path).find("abc", "sts", result().data).scores["stsb"] == 0.6


def write_many(path, writer):
    results = Results(path)
    for number in range(EACH):
        results.write(result(f"row-{writer}", number, key=f"{writer}-{number}"))


def test_trainings_that_finish_at_the_same_time_keep_each_other(path):
    context = multiprocessing.get_context("spawn")
    with context.Pool(WRITERS) as pool:
        pool.starmap(write_many, [(path, writer) for writer in range(WRITERS)])
    assert len(path.read_text().splitlines()) == WRITERS * EACH


def test_a_killed_writer_leaves_the_file_as_it_was(path):
    Results(path).write(result())
    (path.parent / ".work" / "cpu.jsonl.123-ab").write_text('{"row": "sim')
    assert Results(path).find("abc", "sts", result().data) == result()


@pytest.mark.parametrize("line", ['{"row": "sim', '{"row": "simcse"}', "[]", ""])
def test_a_damaged_line_is_named_and_stays(path, line):
    results = Results(path)
    results.write(result())
    damaged = path.read_text() + line + "\n"
    path.write_text(damaged)
    with pytest.raises(BadInputError, match=r"cpu\.jsonl, line 2 .*delete the line"):
        Results(path)
    with pytest.raises(BadInputError):
        results.write(result("una"))
    assert path.read_text() == damaged
