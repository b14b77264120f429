"""Pairs with gold: what a table's scored split holds, and gold scores outside the range."""

import pytest

from augment_cli.errors import BadInputError
from eval.tasks.table import Table, pairs_of
from tests.helpers.stored_results import REGISTRY


def table_of(name, *scores):
    count = len(scores)
    task = REGISTRY[name]
    first, second = task.text_columns
    columns = {
        "split": ["test"] * (count - 1) + ["dev"],
        first: [f"a{number}" for number in range(count)],
        second: [f"b{number}" for number in range(count)],
        task.label_column: list(scores),
        task.subset_column: ["main-news"] * count,
    }
    return Table(task, columns, "", True)


def test_pairs_are_those_of_the_scored_split_in_its_order():
    pairs = pairs_of(table_of("stsb", "5", "0.25", "3"))
    assert (pairs.first, pairs.second) == (["a0", "a1"], ["b0", "b1"])
    assert pairs.gold.tolist() == [5, 0.25]
    assert pairs.subsets == ["main-news"] * 2


def test_without_subsets_all_pairs_are_one():
    assert pairs_of(table_of("sickr", "5", "1", "3")).subsets == ["all"] * 2


@pytest.mark.parametrize("score", ["5.1", "-1", "high", "nan"])
def test_gold_outside_the_range_is_named(score):
    with pytest.raises(BadInputError, match=f"gold score '{score}' is not between 0 and 5"):
        pairs_of(table_of("stsb", "3", score, "3"))
