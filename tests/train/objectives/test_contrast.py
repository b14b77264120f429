"""The loss of vectors cut to several lengths (Matryoshka)."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from augment_cli.errors import UsageError
from tests.helpers.slow_losses import reference_info_nce
from tests.helpers.training import draw, logged_run, numeric_gradient
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.objectives.contrastive import ContrastiveObjective, shorter

CUT = {"dimensions": [2, 8], "head": "none"}


@pytest.fixture
def one_step(tiny_encoder, make_batch):
    """Loss, metrics and gradient of a batch of vectors, shape (B, 2, d), without a model."""
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)

    def step(z, values):
        objective = ContrastiveObjective(make_recipe(values), tokenizer, join())
        vectors = torch.tensor(z, requires_grad=True)
        total, metrics, _ = objective.loss(SimpleNamespace(additions={}), make_batch(vectors))
        total.backward()
        return total.item(), metrics, vectors.grad

    return step


def test_every_length_is_the_vectors_first_numbers():
    z, queue = torch.tensor(draw(5, 2, 16)), [(torch.tensor(draw(3, 16, seed=1)), torch.arange(3))]
    parts = shorter(make_recipe(CUT), z, queue)
    assert list(parts) == [2, 8]
    for length, (vectors, negatives) in parts.items():
        assert torch.equal(vectors, z[:, :, :length])
        assert torch.equal(negatives[0][0], queue[0][0][:, :length])
    with pytest.raises(UsageError, match="dimensions = 16: the encoder's vectors have 16 numbers"):
        shorter(make_recipe({"dimensions": [16], "head": "none"}), z, [])


def test_the_loss_is_the_sum_over_the_lengths(one_step):
    z = draw(6, 2, 12)
    total, metrics, gradient = one_step(z, CUT | {"temperature": 0.5})
    none = np.zeros((6, 6))
    slow = [
        reference_info_nce(z[:, 0, :length], z[:, 1, :length], none, 0.5, none).mean()
        for length in (12, 2, 8)
    ]
    assert total == pytest.approx(sum(slow), rel=1e-10)
    assert list(metrics.values()) == pytest.approx(slow, rel=1e-10)
    assert list(metrics) == ["loss", "loss_2", "loss_8"]

    def slow_total(moved):
        sides = moved[:, 0], moved[:, 1]
        cut = ([side[:, :length] for side in sides] for length in (12, 2, 8))
        return sum(reference_info_nce(*pair, none, 0.5, none).mean() for pair in cut)

    np.testing.assert_allclose(gradient, numeric_gradient(slow_total, z), atol=2e-8)
    half, _, half_gradient = one_step(z, CUT | {"temperature": 0.5, "contrastive_weight": 0.5})
    assert half == pytest.approx(total / 2)
    np.testing.assert_allclose(half_gradient, gradient / 2)


def test_a_run_logs_the_loss_of_each_length(store_copy, tiny_encoder, tmp_path):
    _, events = logged_run(
        store_copy, tiny_encoder, tmp_path / "run", {"steps": 1, "positives": ["una"], "labels": "kind"} | CUT
    )
    assert {"loss", "loss_2", "loss_8"} <= events[0].keys()


def test_lengths_are_checked(tmp_path):
    assert load_recipe("simcse", ["dimensions=128,64", "head=none"]).contrast.dimensions == (64, 128)
    assert make_recipe(make_recipe(CUT).as_json()).contrast.dimensions == (2, 8)
    for wrong in (["half"], [0], [8.5]):
        with pytest.raises(UsageError, match="should be lengths, such as"):
            make_recipe({"dimensions": wrong, "head": "none"})
    with pytest.raises(UsageError, match='head "tanh" mixes'):
        make_recipe({"dimensions": [2]})
