"""The focal loss in value and gradient against a slow NumPy reference in float64."""

import functools
import math

import numpy as np
import pytest
import torch

from augment_cli.errors import UsageError
from tests.helpers.slow_losses import check_with_columns
from tests.helpers.training import cos
from train.loading import make_recipe
from train.losses.focal import Settings, focal
from train.losses.info_nce import info_nce


def reference_focal(z, candidates, excluded, tau, logit_bias, margin=0.2):
    losses = []
    for i in range(len(z)):
        terms = {}
        for j in range(len(candidates)):
            s = cos(z[i], candidates[j])
            if not excluded[i, j]:
                terms[j] = math.exp(s * (s if j == i else s + margin) / tau + logit_bias[i, j])
        losses.append(-math.log(terms[i] / sum(terms.values())))
    return np.array(losses)


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_focal(negatives, numeric_gradient):
    loss = functools.partial(focal, settings=Settings(margin=0.2))
    check_with_columns(loss, reference_focal, negatives, numeric_gradient)


def test_an_easy_negative_counts_less_and_a_hard_one_more_than_in_one_way():
    anchor = torch.tensor([[1.0, 0.0, 0.0]])

    def gradients(cosine):
        negative = torch.tensor([[cosine, math.sqrt(1 - cosine**2), 0.0]], requires_grad=True)
        excluded = torch.zeros(1, 2, dtype=torch.bool)
        for loss in (functools.partial(focal, settings=Settings()), info_nce):
            loss(anchor, torch.cat([anchor, negative]), excluded, 0.2).backward()
            yield float(negative.grad.norm())
            negative.grad = None

    ours, plain = gradients(0.1)
    assert ours < plain
    ours, plain = gradients(0.8)
    assert ours > plain


def test_a_margin_below_zero_is_refused():
    with pytest.raises(UsageError, match=r"\[loss_settings\]: margin = -1.0 must be at least 0"):
        make_recipe({"loss": "focal", "loss_settings": {"margin": -1.0}})
