"""Results on disk, as the real mteb reads them."""

import json

import numpy as np
import pytest

from augment_cli.errors import BadInputError, MissingError
from eval import protocols, results
from eval.contract import TaskScore
from tests.helpers.stored_results import REGISTRY, SETTINGS, sts_score, table_of, write_model


@pytest.mark.slow
def test_every_task_is_written_in_the_shape_the_real_mteb_reads(tmp_path):
    from mteb.results import TaskResult

    results.write_encoder(tmp_path, "model", SETTINGS)
    names = set()
    for name, task in REGISTRY.items():
        named = dict.fromkeys(protocols.get(task.protocol).mteb_scores.values(), 0.5)
        score = TaskScore(0.5, {task.metric: 0.5} | named)
        path = results.write_result(tmp_path, table_of(name), score, 2.0)
        loaded = TaskResult.from_disk(path)
        (entry,) = loaded.scores[task.split]
        assert entry["main_score"] == 0.5
        assert loaded.evaluation_time == 2.0
        names.add(loaded.task_name)
        if task.mteb_name:
            assert loaded.get_score() == 0.5
            assert entry["cosine_spearman"] == 0.5
    assert len(names) == len(REGISTRY)
    assert set(results.read_results(tmp_path).tasks) == set(REGISTRY)


def test_missing_and_damaged_results_are_named(tmp_path):
    with pytest.raises(MissingError, match="holds no results"):
        results.read_results(tmp_path)
    with pytest.raises(MissingError, match="score a model first"):
        results.find_results(tmp_path)
    write_model(tmp_path, "m", {"sts12": sts_score(0.5)})
    (tmp_path / "STS12.json").write_text('{"scores": {}}')
    with pytest.raises(BadInputError, match=r"STS12\.json is not a result"):
        results.read_results(tmp_path)
    (tmp_path / "STS12.json").write_text("{")
    with pytest.raises(BadInputError, match=r"STS12\.json is not readable JSON"):
        results.read_results(tmp_path)


def test_json_of_a_result_names_data_and_settings(tmp_path):
    write_model(tmp_path, "m", {"mr": TaskScore(0.8, {"accuracy": 0.8}, settings={"folds": 10})})
    (entry,) = json.loads((tmp_path / "MR-SentEval.json").read_text())["scores"]["all"]
    assert entry["settings"] == {"folds": 10}
    assert entry["counts"] == {"all": 10662}
    assert entry["data_sha256"] == "a" * 64
    assert "torch" in json.loads((tmp_path / "encoder.json").read_text())["libraries"]


def test_what_results_say_commands_no_terminal(tmp_path):
    write_model(tmp_path, "\x1b[31m", {"sts12": sts_score(0.5)})
    path = tmp_path / "STS12.json"
    stored = json.loads(path.read_text())
    stored["scores"]["test"][0] |= {"title": "\u202egnp", "notes": ["a\nb"]}
    path.write_text(json.dumps(stored))
    found = results.read_results(tmp_path)
    assert found.label == "␛[31m"
    assert (found.tasks["sts12"].title, found.tasks["sts12"].notes) == ("<U+202E>gnp", ["a␊b"])


@pytest.mark.parametrize(
    "items",
    [
        {"correct": np.zeros((2, 2))},
        {"correct": np.array(["a", "b"])},
        {"correct": np.array([1 + 2j])},
        {"gold": np.ones(3), "similarity": np.ones(4)},
        {"gold": np.ones(3)},
        {"correct": np.array([None, 1], object)},
    ],
)
def test_values_per_example_that_are_something_else(tmp_path, items):
    (tmp_path / "items").mkdir()
    np.savez(tmp_path / "items" / "sts12.npz", **items)
    with pytest.raises(BadInputError, match=r"sts12\.npz is damaged"):
        results.read_items(tmp_path, "sts12")
