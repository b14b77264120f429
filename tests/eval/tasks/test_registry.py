"""The registry of tasks: what it states, and how tasks are chosen from it."""

import pytest

from augment_cli.errors import BadInputError, UsageError
from eval.tasks.registry import choose_tasks, load_registry


def test_registry_covers_the_sets_and_states_the_published_counts():
    registry = load_registry()
    counts = {name: task.counts[task.split] for name, task in registry.items()}
    assert [counts[f"sts{year}"] for year in range(12, 17)] == [3108, 1500, 3750, 3000, 1186]
    assert [counts[name] for name in ("stsb", "sickr", "stsb-dev")] == [1379, 4927, 1500]
    assert (counts["cr"], counts["mpqa"], counts["mr"], counts["subj"]) == (3771, 10603, 10662, 10000)
    assert "SMT" not in registry["sts13"].subsets
    suites = {
        suite: len(choose_tasks(registry, [suite])) for suite in ("sts", "transfer", "clustering", "intent")
    }
    assert suites == {"sts": 7, "transfer": 7, "clustering": 6, "intent": 5}
    for task in registry.values():
        assert task.split in task.counts
        assert {"split", task.label_column, *task.text_columns} <= set(task.columns), task.name
        if task.subsets:
            assert sum(task.subsets.values()) == task.counts[task.split], task.name


def test_choosing_keeps_the_registrys_order_and_unknown_names_are_named(tmp_path):
    registry = load_registry()
    assert [task.name for task in choose_tasks(registry, ["stsb", "sts12"])] == ["sts12", "stsb"]
    assert len(choose_tasks(registry, ["all"])) == len(registry)
    with pytest.raises(UsageError, match=r"unknown task 'sts17'; tasks are sts12, .*suites are"):
        choose_tasks(registry, ["sts17"])
    path = tmp_path / "tasks.toml"
    path.write_text('[a]\ntitle = "A"\ncolour = "red"\n')
    with pytest.raises(BadInputError, match="task a has the unknown key colour"):
        load_registry(path)
    path.write_text('[a]\ntitle = "A"\n')
    with pytest.raises(BadInputError, match="task a is incomplete"):
        load_registry(path)
