"""ESimCSE's running mean and its queue."""

from functools import partial

import numpy as np
import torch
from torch import nn

from tests.helpers.training import draw
from train.data.texts import NO_TEXT
from train.loading import load_recipe
from train.methods.esimcse.momentum_addition import Momentum
from train.methods.esimcse.momentum_addition import Settings as Queue


def encode(x, encoder):
    return encoder(x)


class Tiny(nn.Module):
    """Stands for an encoder: one layer, and a dropout that would show."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.dropout = nn.Linear(3, 4).double(), nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.layer(x))


class Host:
    """What `Momentum` asks of a model."""

    def __init__(self):
        self.encoder, self.head_dimension, self.dtype = Tiny(), 4, torch.float64


def test_the_running_mean_and_its_queue(make_batch):
    host, rate = Host(), 0.9
    addition = Momentum(Queue(rate=rate, queue=5), host).train()
    assert not addition.encoder.training
    mean = host.encoder.layer.weight.detach().numpy().copy()
    queue, names = [], []
    for step in range(4):
        with torch.no_grad():
            host.encoder.layer.weight += torch.tensor(draw(4, 3, seed=step))
        x = torch.tensor(draw(3, 3, seed=10 + step))
        texts = torch.tensor([[step * 10 + row, 99] for row in range(3)])
        if step == 2:
            texts[1] = NO_TEXT  # padding never enters
        batch = make_batch(draw(3, 2, 4), texts=texts, head=torch.tanh)
        assert addition.negatives(batch)[1].tolist() == [*names, *[NO_TEXT] * 5][:5]
        with torch.no_grad():
            addition.on_step_end(batch, partial(encode, x))
        mean = rate * mean + (1 - rate) * host.encoder.layer.weight.detach().numpy()
        np.testing.assert_allclose(addition.encoder.layer.weight, mean, rtol=1e-12)
        bias = host.encoder.layer.bias.detach().numpy()
        new = [np.tanh(row @ mean.T + bias) for row in x.numpy()]
        kept = [row for row in range(3) if texts[row, 0] >= 0]
        queue = [*(new[row] for row in kept), *queue][:5]
        names = [*(int(texts[row, 0]) for row in kept), *names][:5]
    vectors, ids = addition.negatives(batch)
    np.testing.assert_allclose(vectors, np.stack(queue), rtol=1e-12)
    assert ids.tolist() == names
    assert not vectors.requires_grad
    assert not list(filter(lambda p: p.requires_grad, addition.parameters()))


def test_checkpoint_tensors_hold_running_mean_and_queue():
    names = Momentum(Queue(queue=5), Host()).state_dict().keys()
    assert names == {"vectors", "texts", "encoder.layer.weight", "encoder.layer.bias"}


def test_settings_of_the_recipe():
    recipe = load_recipe("esimcse", ["repetition.rate=0.3"])
    assert recipe.additions["momentum"] == {"rate": 0.995, "queue": 160}
