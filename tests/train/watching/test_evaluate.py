"""The dev score: held-out rows and their retrieval."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from augment_cli.store.store import Store
from tests.helpers.training import quick_run
from train.data.order import is_held_out
from train.watching.evaluate import PairRetrieval, STSBDev, held_out_pairs


def test_held_out_rows_are_not_trained_on(tiny_store, tiny_encoder, tmp_path):
    pairs = held_out_pairs(Store.open(tiny_store), 0.3, ("aa",))
    texts = Store.open(tiny_store).read("corpus")["text"].to_pylist()
    held = np.flatnonzero(is_held_out(np.arange(150), 0.3)).tolist()
    assert {first for first, second in pairs if second == f"does {first}"} == {
        texts[r] for r in held if r % 2
    }
    outcome = quick_run(tiny_store, tiny_encoder, tmp_path, held_out=0.3)
    assert outcome.steps == math.ceil((150 - len(held)) / 16)


def test_pair_retrieval_of_perfect_and_useless_encoders():
    pairs = [(f"a{i}", f"b{i}") for i in range(20)]

    class Perfect:
        def encode(self, texts):
            return np.stack([np.eye(20)[int(text[1:])] for text in texts])

    class Useless:
        def encode(self, texts):
            return np.ones((len(texts), 4))

    test = PairRetrieval(pairs)
    perfect, useless = test.measure(Perfect()), test.measure(Useless())
    assert test.scores(perfect, {})["pair_retrieval"] == 1.0
    assert test.scores(useless, {})["pair_retrieval"] == 1 / 20
    gain, low, high = test.gain(useless, perfect)
    assert gain == pytest.approx(0.95) and 0.8 < low < 0.95 <= high <= 1
    assert test.gain(perfect, perfect) == (0, 0, 0)
    assert PairRetrieval([]).gain(useless, perfect) == (0, 0, 0)  # nothing is held out


def test_a_gain_on_stsb_has_an_interval_over_its_pairs(monkeypatch):
    gold = np.arange(200.0)

    def stsb(similarity, data, split):
        return SimpleNamespace(similarity=similarity, gold=gold)

    monkeypatch.setattr("train.watching.evaluate.stsb", stsb)
    noise = np.random.default_rng(0).normal(scale=60, size=200)
    test = STSBDev(None)
    start = test.measure(SimpleNamespace(encode=gold + 2 * noise))
    best = test.measure(SimpleNamespace(encode=gold + noise))
    gain, low, high = test.gain(start, best)
    assert 0 < low < gain < high < 1
    assert test.gain(best, start) == pytest.approx((-gain, -high, -low))
