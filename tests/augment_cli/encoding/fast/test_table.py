"""Sums of a table's rows, and their gradient, are torch's own."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.encoding.fast.table import ByToken
from augment_cli.encoding.static import StaticTable
from augment_cli.neural import fast


@pytest.mark.parametrize("known", [False, True])
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=6))
def test_both_ways_have_the_same_sums_and_gradients(known, texts):
    lengths = np.array([len(text) for text in texts])
    flat = np.array([token for text in texts for token in text], np.int64)
    ids, offsets = torch.from_numpy(flat), torch.from_numpy(lengths.cumsum() - lengths)
    weights = torch.linspace(0.5, 2.0, 7, dtype=torch.float64)
    found = []
    for on in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast, "_wanted", on)
            if not on:
                patch.setattr("augment_cli.encoding.static.weighted_sums", None)  # is not called
            torch.manual_seed(0)
            table = StaticTable(torch.randn(7, 3, dtype=torch.float64))
            by_token = ByToken.of(flat, lengths) if known else None
            vectors = table(ids, offsets, weights, by_token)
            (vectors * torch.arange(1, 3 * len(texts) + 1).view(-1, 3)).sum().backward()
            assert table.embedding.weight.grad.is_sparse
            found.append((vectors.detach(), table.embedding.weight.grad.to_dense()))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
