"""Cosine similarity, its correlation with gold scores, and neighbours."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cosine as distance

from eval.measures.geometry import NEAREST, correlation, cosine, finds_own, halves, nearest, shared_neighbours
from tests.helpers.training import draw


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


def brute_nearest(vectors):
    scaled = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = scaled - scaled.mean(axis=0)
    found = []
    for i in range(len(scaled)):
        cosines = {
            j: scaled[i] @ scaled[j] / np.linalg.norm(scaled[i]) / np.linalg.norm(scaled[j])
            for j in range(len(scaled))
            if j != i
        }
        found.append(set(sorted(cosines, key=lambda j: -cosines[j])[:NEAREST]))
    return found


def test_neighbours_are_those_of_the_definition():
    vectors = draw(40, 5)
    near = brute_nearest(vectors)
    assert [set(np.flatnonzero(row)) for row in nearest(vectors)] == near
    shared = np.mean([len(near[i] & near[j]) / NEAREST for i in range(40) for j in near[i]])
    assert shared_neighbours(vectors).mean() == pytest.approx(shared, rel=1e-6)


def test_a_direction_that_all_texts_share_changes_no_neighbours():
    vectors = unit_rows(draw(60, 6))
    shifted = unit_rows(np.hstack([vectors, np.full((60, 1), 5.0)]))
    assert (nearest(shifted) == nearest(np.hstack([vectors, np.zeros((60, 1))]))).mean() > 0.99


def unit_rows(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("text", ["one two three four five", "two words", "词语没有空格", "x", ""])
def test_halves_share_a_text_out(text):
    first, second = halves(text, np.random.default_rng(3))
    assert sorted((first + second).replace(" ", "")) == sorted(text.replace(" ", ""))
    size = len if " " not in text else lambda half: len(half.split())
    assert 0 <= size(second) - size(first) <= 1
    assert all(word in text.split() for word in first.split()) or " " not in text


@pytest.mark.parametrize("count", [0, 1, 30])
def test_own_is_found_where_no_other_is_nearer(count):
    generator = np.random.default_rng(count)
    first, second = generator.normal(size=(2, count, 3))
    expected = []
    for row in range(count):
        cosines = [
            vector @ first[row] / np.linalg.norm(vector) / np.linalg.norm(first[row]) for vector in second
        ]
        expected.append(max(cosines) == cosines[row])
    found = finds_own(first, second)
    assert found.dtype == bool
    assert found.tolist() == expected


def test_of_equal_texts_the_first_is_found():
    assert finds_own(np.eye(2)[[0, 0]], np.eye(2)[[0, 0]]).tolist() == [True, False]
