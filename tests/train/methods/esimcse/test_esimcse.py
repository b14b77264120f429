"""ESimCSE: the running mean with its queue, and repeated words."""

from collections import Counter, OrderedDict
from operator import methodcaller
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from augment_cli.errors import UsageError
from tests.helpers.training import draw
from train.additions import find
from train.data import NO_TEXT
from train.loading import make_recipe
from train.methods.esimcse.momentum_addition import Momentum
from train.methods.esimcse.momentum_addition import Settings as Queue
from train.methods.esimcse.repetition_addition import Settings as Repetition
from train.methods.esimcse.repetition_addition import repeat
from train.model import start


def test_the_running_mean_and_its_queue(make_batch):
    torch.manual_seed(0)
    layers = {"layer": nn.Linear(3, 4).double(), "dropout": nn.Dropout(0.5)}  # which would show
    encoder = nn.Sequential(OrderedDict(layers))
    host, rate = SimpleNamespace(encoder=encoder, head_dimension=4, dtype=torch.float64), 0.9
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
            addition.on_step_end(batch, methodcaller("forward", x))
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


@given(
    st.lists(st.integers(10, 500), max_size=30, unique=True),
    st.floats(0.05, 1.0),
    st.sampled_from(["code", "paper"]),
    st.integers(0, 2**32),
)
def test_repetition_doubles_words_in_place_and_nothing_else(words, rate, count, seed):
    ids = np.array([2, *words, 3])
    setting = Repetition(rate=rate, count=count)
    longer = repeat(ids, setting, (1, 1), np.random.default_rng(seed))
    share = int(rate * len(ids))
    most = min(10, share) - 1 if count == "code" else max(2, share)
    assert 0 <= len(longer) - len(ids) <= min(max(most, 0), len(words))
    assert (longer == 2).sum() == (longer == 3).sum() == 1
    counts = Counter(longer.tolist())
    assert set(counts.values()) <= {1, 2}
    assert list(dict.fromkeys(longer.tolist())) == ids.tolist()
    assert longer.tolist() == [word for word in ids.tolist() for _ in range(counts[word])]


def test_the_positive_is_repeated_the_same_in_every_epoch(choose_views):
    anchor = [2, *range(10, 40), 3]

    def views(**more):
        return [choose_views("repetition", [anchor, anchor, [2, 3]], row_id=n, **more)[0] for n in range(50)]

    assert all(first == anchor and negative == [2, 3] for first, _, negative in views())
    assert len({len(positive) for _, positive, _ in views()}) > 5
    assert views() == views(epoch=1) != views(epoch=1, redraw=True)


@pytest.mark.parametrize("count", ["code", "paper"])
def test_repeated_texts_have_to_fit_the_encoder(tiny_encoder, count):
    values = {"rate": 0.5, "count": count}
    chooser = find("repetition").views(Repetition(**values), make_recipe({}))
    lengths = [
        len(repeat(np.arange(20), Repetition(**values), (1, 1), np.random.default_rng(n))) for n in range(300)
    ]
    assert max(lengths) == chooser.longest(20)
    most = 9 if count == "code" else 21

    def begin(length):
        start(tiny_encoder, make_recipe({"max_length": length, "repetition": values}), torch.device("cpu"))

    begin(3)
    begin(64 - most)
    for length in (65 - most, 64):
        with pytest.raises(UsageError, match=f"max_length = {length} .*tiny reads at most 64 tokens"):
            begin(length)
