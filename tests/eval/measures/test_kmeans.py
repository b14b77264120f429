"""The assignment of clusters to classes, against all permutations."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.kmeans import hungarian_accuracy


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_accuracy_is_that_of_the_best_permutation(rows):
    gold, clusters = (np.array(column) for column in zip(*rows, strict=True))
    best = max(
        np.mean([order[cluster] == label for label, cluster in rows])
        for order in itertools.permutations(range(4))
    )
    assert hungarian_accuracy(gold, clusters) == pytest.approx(best)
