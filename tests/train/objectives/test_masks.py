"""Which pairs of a batch do not meet in the loss."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from train.data.texts import NO_SENTENCE, NO_TEXT
from train.objectives.contrastive import _all_differ, excluded_pairs


def test_equal_texts_padding_and_missing_negatives_do_not_meet():
    rows = torch.tensor([1, 2, 1, NO_TEXT])
    partners = torch.tensor([5, 2, 6, NO_TEXT])
    columns = torch.tensor([5, 2, 6, NO_TEXT, 9, NO_TEXT, 1, 5])  # positives, then one column of negatives
    excluded = excluded_pairs(rows, partners, columns, torch.arange(4))
    assert excluded.int().tolist() == [
        [0, 0, 0, 1, 0, 1, 1, 1],  # its own text and its positive's are no negatives
        [0, 0, 0, 1, 0, 1, 0, 0],
        [0, 0, 0, 1, 0, 1, 1, 0],
        [1, 1, 1, 0, 1, 1, 1, 1],  # padding meets nothing
    ]
    without = excluded_pairs(rows, partners, columns, torch.arange(4), equal=False)
    assert without.int().tolist()[0] == [0, 0, 0, 1, 0, 1, 0, 0]


ids = st.lists(st.integers(0, 9), min_size=4, max_size=4)


@given(ids, ids, ids, st.booleans(), st.sets(st.integers(0, 3)))
def test_excluded_pairs_are_those_that_a_comparison_of_each_with_each_finds(
    rows, partners, more, beside, gone
):
    rows, partners = ([NO_TEXT if i in gone else n for i, n in enumerate(side)] for side in (rows, partners))
    columns = [*partners, *more]
    anchors = [*rows, NO_SENTENCE, NO_SENTENCE, NO_SENTENCE, NO_SENTENCE]
    found = excluded_pairs(
        torch.tensor(rows),
        torch.tensor(partners),
        torch.tensor(columns),
        torch.arange(4),
        beside=torch.tensor(anchors) if beside else None,
    )
    for i, own in enumerate(zip(rows, partners, strict=True)):
        for j, column in enumerate(columns):
            texts = {column, anchors[j]} if beside else {column}
            wanted = i != j and (NO_TEXT in (column, rows[i]) or bool(texts & {*own}))
            assert bool(found[i, j]) == wanted, (i, j)


def test_texts_that_all_differ_are_not_compared():
    first, second = torch.tensor([1, 2, NO_TEXT]), torch.tensor([4, 2, NO_TEXT])
    assert _all_differ(first, second, second, first)
    assert not _all_differ(first, second, torch.tensor([4, 2, NO_TEXT, 1]), None)
