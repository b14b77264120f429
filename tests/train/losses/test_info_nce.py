"""One-way InfoNCE in value and gradient against a slow NumPy reference in float64."""

import math

import pytest
import torch

from tests.helpers.slow_losses import TAU, check_with_columns, reference_info_nce
from tests.helpers.training import draw
from train.data.texts import NO_TEXT
from train.losses.info_nce import info_nce
from train.objectives.contrastive import excluded_pairs


@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_info_nce(negatives):
    check_with_columns(info_nce, reference_info_nce, negatives)


def test_known_values_of_info_nce():
    # Two orthogonal pairs, each positive equal to its anchor: −log(e^{1/τ} / (e^{1/τ} + e^0)).
    z = torch.eye(2, dtype=torch.float64)
    expected = math.log1p(math.exp(-1 / TAU))
    assert info_nce(z, z, torch.zeros(2, 2, dtype=torch.bool), TAU).tolist() == pytest.approx([expected] * 2)
    # Equal embeddings everywhere: log of the number of candidates.
    same = torch.ones(4, 3, dtype=torch.float64)
    assert info_nce(same, same, torch.zeros(4, 4, dtype=torch.bool), TAU)[0] == pytest.approx(math.log(4))


def test_lengths_of_vectors_do_not_matter():
    z, other = torch.tensor(draw(4, 8)), torch.tensor(draw(4, 8, seed=1))
    none = torch.zeros(4, 4, dtype=torch.bool)
    torch.testing.assert_close(info_nce(z, other, none, TAU), info_nce(7 * z, 0.1 * other, none, TAU))


def test_a_zero_vector_that_is_excluded_leaves_finite_gradients():
    z = torch.zeros(3, 4, dtype=torch.float64)
    z[0, 0] = z[1, 1] = 1
    z.requires_grad_()
    texts = torch.tensor([1, 2, NO_TEXT])
    excluded = excluded_pairs(texts, texts, texts, torch.arange(3))
    losses = info_nce(z, z, excluded, TAU)
    losses[:2].sum().backward()
    assert torch.isfinite(z.grad).all()
    assert losses[2] == 0
