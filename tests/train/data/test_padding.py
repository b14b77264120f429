"""Slices are cut where it saves most."""

import itertools

import numpy as np

from train.data.padding import length_sorted_slices


def padded(groups):
    return sum(len(group) * max(group) for group in groups)


def test_no_other_cut_costs_less():
    rng = np.random.default_rng(7)
    for _ in range(60):
        texts = [np.ones(n, dtype=np.int64) for n in rng.integers(1, 6, size=rng.integers(1, 9))]
        lengths = sorted(map(len, texts), reverse=True)
        count = int(rng.integers(1, 5))
        found = length_sorted_slices(texts, count, pad=0)
        assert 1 <= len(found) <= count
        least = min(
            padded(np.split(lengths, list(cuts)))
            for parts in range(min(count, len(texts)))
            for cuts in itertools.combinations(range(1, len(texts)), parts)
        )
        assert sum(item.ids.numel() for item in found) == least
