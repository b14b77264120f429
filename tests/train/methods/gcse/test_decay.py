"""GCSE's decay against a slow reference in float64: of the function, and of the whole loss."""

import math

import numpy as np
import pytest
import torch

from augment_cli.errors import UsageError
from tests.helpers.cached_vectors import add_vectors
from tests.helpers.training import cos, draw, logged_run
from train.loading import make_recipe
from train.methods.gcse.decay_addition import decayed
from train.objectives.contrastive import contrast

WIDTH = 0.3


def slow(s, known, one_sided):
    if one_sided and s > known:
        return 0.0
    return -s * math.exp(-((s - known) ** 2) / (2 * WIDTH**2))


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_function_is_the_papers(one_sided):
    s, known = np.tanh(draw(50)), np.tanh(draw(50, seed=1))
    actual = decayed(torch.tensor(s, requires_grad=True), torch.tensor(known), WIDTH, one_sided)
    expected = [slow(a, b, one_sided) for a, b in zip(s, known, strict=True)]
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
    assert not actual.requires_grad


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_loss_with_decayed_hard_negatives(one_sided, taught):
    z, teacher = draw(6, 3, 4), draw(6, 3, 3, seed=1)
    texts = np.arange(18).reshape(6, 3)
    texts[2, 2] = -1  # a row without a hard negative
    recipe = {"negatives": ["una"], "temperature": 0.5}
    settings = {"width": WIDTH, "one_sided": one_sided}
    addition, batch = taught("decay", z, teacher, texts, settings, recipe, first=2)
    logit_bias = addition.logit_bias(batch, 3)
    actual = contrast(make_recipe(recipe), torch.tensor(z), torch.tensor(texts), [], [], [logit_bias])
    losses = []
    for i in range(6):
        terms = [math.exp(cos(z[i, 0], z[j, 1]) / 0.5) for j in range(6)]
        for j in range(6):
            if texts[j, 2] >= 0:
                s = cos(z[i, 0], z[j, 2])
                less = slow(s, cos(teacher[i, 0], teacher[i, 2]), one_sided) if i == j else 0
                terms.append(math.exp((s + less) / 0.5))
        losses.append(-math.log(terms[i] / sum(terms)))
    assert actual.item() == pytest.approx(np.mean(losses), rel=1e-10)


def test_a_run_reads_the_negatives_vectors(store_copy, tiny_encoder, tmp_path):
    values = {"steps": 2, "negatives": ["una"], "decay": {"width": 1e6}}
    with pytest.raises(UsageError, match="has no vectors of 'corpus'"):
        logged_run(store_copy, tiny_encoder, tmp_path / "none", values)
    for of in ("corpus", "una", "una.1"):
        add_vectors(store_copy, of, np.ones((150, 4)))
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "run", values)
    assert set(result.facts["data"]) >= {"vectors", "vectors-una", "vectors-una.1"}
    del values["decay"]
    _, plain = logged_run(store_copy, tiny_encoder, tmp_path / "plain", values)
    # So wide a bell takes the whole logit of each row's own negative away.
    assert events[0]["loss"] < plain[0]["loss"]
