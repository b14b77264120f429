"""Which pairs of a batch do not meet in the loss."""

import torch

from train.data.texts import NO_TEXT
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
