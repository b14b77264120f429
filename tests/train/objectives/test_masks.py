"""Which pairs of a batch do not meet in the loss."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from train.data.texts import NO_SENTENCE, NO_TEXT
from train.objectives import masks
from train.objectives.masks import excluded_pairs


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
        *map(torch.tensor, (rows, partners, columns)), torch.arange(4),
        beside=torch.tensor(anchors) if beside else None,
    )  # fmt: skip
    for i, own in enumerate(zip(rows, partners, strict=True)):
        for j, column in enumerate(columns):
            texts = {column, anchors[j]} if beside else {column}
            wanted = i != j and (NO_TEXT in (column, rows[i]) or bool(texts & {*own}))
            assert bool(found[i, j]) == wanted, (i, j)


def test_texts_that_all_differ_are_not_compared(monkeypatch):
    first, second = torch.tensor([1, 2, NO_TEXT]), torch.tensor([4, 2, NO_TEXT])
    seen = []
    whole = masks._all_differ
    monkeypatch.setattr(masks, "_all_differ", lambda *args: seen.append(whole(*args)) or seen[-1])
    excluded_pairs(first, second, second, torch.arange(3), beside=first)
    excluded_pairs(first, second, torch.tensor([4, 2, NO_TEXT, 1]), torch.arange(3), beside=None)
    assert seen == [True, False]
