"""Pooling against a slow NumPy reference that never sees padding."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.encoding.pooling import MODES, canonical, needs_all_layers, pool
from augment_cli.errors import UsageError
from tests.helpers.properties import examples


def reference(layers: list[np.ndarray], mode: str) -> np.ndarray:
    """One sentence without padding; `layers` are (tokens, d), the embedding output first."""
    last = layers[-1]
    position = np.arange(1, len(last) + 1)[:, None]
    return {
        "cls": lambda: last[0],
        "mean": lambda: last.mean(0),
        "max": lambda: last.max(0),
        "first-last": lambda: ((layers[0] + last) / 2).mean(0),
        "first-last-1": lambda: ((layers[1] + last) / 2).mean(0),
        "static": lambda: layers[0].mean(0),
        "weighted-mean": lambda: (last * position).sum(0) / position.sum(),
        "mean-sqrt-length": lambda: last.sum(0) / np.sqrt(len(last)),
        "last-token": lambda: last[-1],
    }[mode]()


@pytest.mark.parametrize("mode", MODES)
@examples(25)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), left=st.booleans(), seed=st.integers(0, 999)
)
def test_every_mode_equals_the_reference_whatever_the_padding(mode, lengths, left, seed):
    generator = np.random.default_rng(seed)
    width, layers = max(lengths) + 1, 3
    states = generator.normal(size=(layers, len(lengths), width, 5))  # padding holds garbage on purpose
    mask = np.zeros((len(lengths), width), dtype=int)
    expected = []
    for row, length in enumerate(lengths):
        place = slice(width - length, width) if left else slice(0, length)
        mask[row, place] = 1
        expected.append(reference([states[layer, row, place] for layer in range(layers)], mode))
    got = pool([torch.tensor(layer) for layer in states], torch.tensor(mask), mode)
    np.testing.assert_allclose(got.numpy(), np.stack(expected), atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_row_without_tokens_is_zero(mode):
    states = [torch.randn(2, 3, 4) for _ in range(3)]
    got = pool(states, torch.tensor([[0, 0, 0], [1, 1, 0]]), mode)
    assert not got[0].any()
    assert torch.isfinite(got).all()
    assert got[1].any()


def test_first_last_takes_the_embedding_output_and_not_the_first_layer():
    states = [torch.full((1, 2, 1), value) for value in (1.0, 10.0, 3.0)]
    mask = torch.ones(1, 2)
    assert pool(states, mask, "first-last").item() == 2.0
    assert pool(states, mask, "first-last-1").item() == 6.5
    assert pool(states, mask, "static").item() == 1.0


def test_joined_modes_are_concatenated_and_other_names_are_understood():
    tokens, mask = torch.randn(2, 3, 4), torch.ones(2, 3)
    joined = pool(tokens, mask, "cls_before_pooler+avg")
    assert torch.equal(joined, torch.cat([pool(tokens, mask, "cls"), pool(tokens, mask, "mean")], dim=1))
    assert canonical("avg_first_last+lasttoken") == "first-last+last-token"
    assert needs_all_layers("mean+static")
    assert not needs_all_layers("mean+max")


def test_unknown_modes_and_missing_layers_are_named():
    with pytest.raises(UsageError, match="unknown pooling 'median'; choose one of cls, mean"):
        canonical("median")
    with pytest.raises(UsageError, match="output_hidden_states=True"):
        pool(torch.randn(1, 2, 3), torch.ones(1, 2), "first-last")


def test_gradients_flow_to_every_token_that_counts_and_to_no_other():
    tokens = torch.randn(1, 3, 2, requires_grad=True)
    pool(tokens, torch.tensor([[1, 1, 0]]), "mean").sum().backward()
    np.testing.assert_allclose(tokens.grad[0].numpy(), [[0.5, 0.5], [0.5, 0.5], [0, 0]])
