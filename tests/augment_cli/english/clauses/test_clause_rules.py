"""Small helpers of the rules on clauses, against loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.english.clauses.clause_rules import distinct, refuse

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=12)


@given(ROWS)
def test_distinct_rows_of_columns(rows: list[tuple[int, int, bool]]) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    kinds, of = distinct(columns[0], columns[1], columns[2] > 0)
    assert [kinds[kind] for kind in of.tolist()] == rows
    assert len(kinds) == len(set(rows))


@given(ROWS)
def test_the_first_reason_that_holds_is_written(rows: list[tuple[int, int, bool]]) -> None:
    one, other = np.array([row[0] > 1 for row in rows], bool), np.array([row[2] for row in rows], bool)
    places = np.arange(len(rows)) * 2
    reasons = np.full(2 * len(rows), "none", object)
    good = refuse(reasons, places, (one, "one"), (other, "other"))
    expected = [
        "one" if first else "other" if second else "none" for first, second in zip(one, other, strict=True)
    ]
    assert reasons[places].tolist() == expected and set(reasons[1::2]) <= {"none"}
    assert good.tolist() == [index for index, reason in enumerate(expected) if reason == "none"]
