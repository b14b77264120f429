"""Cosine and correlation equal scipy's; what is not defined is named."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cosine as distance

from eval.measures.similarity import correlation, cosine


def test_cosine_equals_scipy_and_zero_vectors_are_orthogonal_to_all():
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 20, 7))
    expected = [1 - distance(a, b) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(cosine(first, second), expected, atol=1e-12)
    assert cosine(np.zeros((1, 3)), np.ones((1, 3))) == [0]


@pytest.mark.parametrize(
    ("similarity", "gold", "reason"),
    [
        ([0.5, 0.5, 0.5], [1, 2, 3], "all similarities are equal"),
        ([0.1, np.nan, 0.5], [1, 2, 3], "NaN or infinite"),
        ([0.1, 0.2, 0.5], [2, 2, 2], "all gold scores are equal"),
        ([0.1], [2], "fewer than two pairs"),
    ],
)
def test_correlations_that_are_not_defined_are_nan_with_the_reason(similarity, gold, reason):
    spearman, pearson, note = correlation(np.array(similarity), np.array(gold))
    assert math.isnan(spearman)
    assert math.isnan(pearson)
    assert reason in note
