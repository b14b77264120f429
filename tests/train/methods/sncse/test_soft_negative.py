"""SNCSE: the bidirectional margin on rows that have a soft negative."""

import math

import numpy as np
import pytest
import torch

from tests.helpers.training import check_gradients, cos, draw
from train.data.texts import NO_TEXT
from train.methods.sncse.soft_negative_addition import bidirectional_margin


def reference(anchors, positives, soft, least=0.1, most=0.3):
    losses = []
    for a, p, s in zip(anchors, positives, soft, strict=True):
        difference = cos(a, s) - cos(a, p)
        losses.append(max(0.0, difference + least) + max(0.0, -difference - most))
    return np.array(losses)


def test_margin_and_gradient():
    inputs = [draw(12, 4, seed=seed) for seed in range(3)]
    inputs[2][:4] = inputs[1][:4] + 0.3 * draw(4, 4, seed=7)  # some inside the band or near it
    check_gradients(lambda *values: bidirectional_margin(*values, 0.1, 0.3), reference, inputs, atol=1e-8)


@pytest.mark.parametrize(
    ("similar", "expected"), [(1.0, 0.1), (0.9, 0.0), (0.7, 0.0), (0.5, 0.2), (-1.0, 1.7)]
)
def test_the_band_is_free(similar, expected):
    anchor = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    soft = torch.tensor([[similar, math.sqrt(1 - similar**2)]], dtype=torch.float64)
    assert bidirectional_margin(anchor, anchor, soft, 0.1, 0.3).item() == pytest.approx(expected, abs=1e-12)


def test_rows_without_a_soft_negative_do_not_count(make_addition, make_batch):
    values = draw(5, 3, 4)
    values[3, 2] = 0
    texts = torch.arange(15).reshape(5, 3)
    texts[3, 2] = NO_TEXT  # none for this row
    texts[4] = NO_TEXT  # padding
    z = torch.tensor(values, requires_grad=True)
    term = make_addition("soft_negative", stage="dn").loss(make_batch(values, z, texts=texts))
    assert term.item() == pytest.approx(reference(*values[:3].transpose(1, 0, 2)).mean(), rel=1e-12)
    term.backward()
    assert not z.grad[3:].any()
    assert z.grad[:3].any()


def test_the_soft_negative_is_a_view_of_its_own(choose_views):
    anchor, negated = [2, 10, 3], [2, 9, 10, 3]
    actual, _ = choose_views("soft_negative", [anchor, anchor], {"dn": negated}, stage="dn")
    assert actual == [anchor, anchor, negated]
    for none in ({}, {"dn": anchor}):  # missing, or no other text than the sentence where that was cut
        assert choose_views("soft_negative", [anchor, anchor], none, stage="dn")[0] == [anchor, anchor, None]
