"""Geometry against direct computations, pair by pair."""

import itertools
import math
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import entropy, hmean

from augment_cli.errors import MissingError, UsageError
from eval.measures import geometry


@pytest.fixture()
def vectors():
    return np.random.default_rng(0).normal(size=(40, 6)) + 0.5


def scaled(vectors):
    return [row / math.sqrt(sum(value * value for value in row)) for row in vectors]


def test_alignment_uniformity_and_anisotropy_equal_loops_over_pairs(vectors):
    rows = scaled(vectors)
    pairs = list(itertools.combinations(rows, 2))
    squares = [sum((a - b) ** 2) for a, b in pairs]
    assert geometry.uniformity(vectors) == pytest.approx(
        math.log(np.mean([math.exp(-2 * s) for s in squares]))
    )
    assert geometry.anisotropy(vectors) == pytest.approx(np.mean([a @ b for a, b in pairs]))
    aligned = np.mean([sum((a - b) ** 2) for a, b in zip(rows[:20], rows[20:], strict=True)])
    assert geometry.alignment(vectors[:20], vectors[20:]) == pytest.approx(aligned)


def test_blocks_do_not_change_uniformity_or_purity(vectors, monkeypatch):
    labels = [str(i % 3) for i in range(40)]

    def measured():
        return geometry.uniformity(vectors), *geometry.neighbourhoods_by_row(vectors, labels, [5])["purity_5"]

    before = measured()
    monkeypatch.setattr(geometry, "_BLOCK", 7)
    assert before == pytest.approx(measured())


def test_known_spaces_have_known_values():
    assert geometry.effective_rank(np.eye(5)) == pytest.approx(5)
    assert geometry.effective_rank(np.ones((7, 4))) == pytest.approx(1)
    assert geometry.anisotropy(np.ones((7, 4))) == pytest.approx(1)
    assert geometry.uniformity(np.ones((7, 4))) == pytest.approx(0, abs=1e-12)
    assert geometry.uniformity(np.array([[1.0, 0], [-1, 0]])) == pytest.approx(-8)
    assert geometry.alignment(np.eye(3), -np.eye(3)) == pytest.approx(4)


def test_effective_rank_condition_and_their_harmonic_mean_equal_the_definition(vectors):
    def direct(matrix):
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix.T @ matrix), 0))[::-1]
        rank = math.exp(entropy(values / values.sum()))
        return rank, values[0] / values[math.floor(rank) - 1]

    other = vectors * [9, 3, 1, 1, 0.1, 0.01]
    assert geometry.effective_rank(vectors) == pytest.approx(direct(vectors)[0])
    expected = hmean([direct(vectors)[1], direct(other)[1]])
    assert geometry.cond_hm(vectors, other) == pytest.approx(expected)


def test_singular_value_gap_equals_the_definition_and_is_zero_for_rotations(vectors):
    other = vectors * [9, 3, 1, 1, 0.1, 0.01]
    a, b = (np.linalg.svd(matrix)[1] for matrix in (vectors, other))
    assert geometry.singular_value_gap(vectors, other) == pytest.approx(((np.log(a) - np.log(b)) ** 2).sum())
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    assert geometry.singular_value_gap(vectors, vectors @ turn) == pytest.approx(0, abs=1e-20)
    # Directions without any extent have no logarithm; they are left out instead of making the gap infinite.
    flat = vectors * [1, 1, 1, 1, 1, 0]
    assert math.isfinite(geometry.singular_value_gap(vectors, flat))


def test_neighbourhoods_equal_a_loop_over_neighbours(vectors):
    labels = [str(i % 3) for i in range(40)]
    rows = scaled(vectors)
    found = geometry.neighbourhoods_by_row(vectors, labels, (1, 4, 39))
    for count in (1, 4, 39):
        shares, distances = [], []
        for i, row in enumerate(rows):
            near = sorted((j for j in range(40) if j != i), key=lambda j: -float(row @ rows[j]))[:count]
            shares.append(np.mean([labels[j] == labels[i] for j in near]))
            distances.append(np.mean([1 - float(row @ rows[j]) for j in near]))
        assert found[f"purity_{count}"] == pytest.approx(np.array(shares))
        assert found[f"distance_{count}"] == pytest.approx(np.array(distances), abs=1e-6)
    with pytest.raises(UsageError, match="choose 1 to 39"):
        geometry.neighbourhoods_by_row(vectors, labels, [40])


def test_too_little_to_measure_is_nan():
    one = np.ones((1, 3))
    assert math.isnan(geometry.uniformity(one))
    assert math.isnan(geometry.anisotropy(one))
    assert math.isnan(geometry.alignment(one[:0], one[:0]))
    assert math.isnan(geometry.effective_rank(np.zeros((3, 3))))
    assert math.isnan(geometry.cond_hm(np.zeros((3, 3)), np.eye(3)))
    assert math.isnan(geometry.singular_value_gap(np.zeros((3, 3)), np.eye(3)))


def test_gromov_hausdorff_needs_gudhi_and_equals_the_bottleneck_of_spanning_trees(vectors):
    if find_spec("gudhi") is None:
        with pytest.raises(MissingError, match="pip install gudhi"):
            geometry.gromov_hausdorff(vectors, vectors)
        return
    # Dimension 0 dies along the minimum spanning tree; with few edges all matchings can be tried.
    from scipy.sparse.csgraph import minimum_spanning_tree

    def deaths(matrix):
        unit = np.array(scaled(matrix))
        return np.sort(minimum_spanning_tree(np.sqrt(np.maximum(2 - 2 * unit @ unit.T, 0))).data)

    a, b = vectors[:5], vectors[5:10] * [3, 1, 1, 1, 1, 1]
    first, second = deaths(a), deaths(b)
    # Each death is matched with another, at their difference, or with the diagonal, at half of itself.
    options = []
    for size in range(5):
        for chosen in itertools.combinations(range(4), size):
            for others in itertools.permutations(range(4), size):
                costs = [abs(first[i] - second[j]) for i, j in zip(chosen, others, strict=True)]
                costs += [first[i] / 2 for i in range(4) if i not in chosen]
                costs += [second[j] / 2 for j in range(4) if j not in others]
                options.append(max(costs))
    assert geometry.gromov_hausdorff(a, b) == pytest.approx(min(options), abs=1e-6)
    assert geometry.gromov_hausdorff(a, a) == pytest.approx(0, abs=1e-12)
