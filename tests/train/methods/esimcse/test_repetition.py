"""ESimCSE's word repetition."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import UsageError
from train.additions import find
from train.loading import make_recipe
from train.methods.esimcse.repetition_addition import Settings, repeat
from train.model.model import start


@given(
    st.lists(st.integers(10, 500), max_size=30, unique=True),
    st.floats(0.05, 1.0),
    st.sampled_from(["code", "paper"]),
    st.integers(0, 2**32),
)
def test_repetition_doubles_words_in_place_and_nothing_else(words, rate, count, seed):
    ids = np.array([2, *words, 3])
    setting = Settings(rate=rate, count=count)
    longer = repeat(ids, setting, (1, 1), np.random.default_rng(seed))
    share = int(rate * len(ids))
    most = min(10, share) - 1 if count == "code" else max(2, share)
    assert 0 <= len(longer) - len(ids) <= min(max(most, 0), len(words))
    assert (longer == 2).sum() == (longer == 3).sum() == 1
    counts = Counter(longer.tolist())
    assert set(counts.values()) <= {1, 2}
    assert list(dict.fromkeys(longer.tolist())) == ids.tolist()
    assert longer.tolist() == [word for word in ids.tolist() for _ in range(counts[word])]


def test_how_many_are_repeated_follows_the_code_or_the_paper():
    ids = np.arange(10, 42)
    counts = {
        count: Counter(
            len(repeat(ids, Settings(rate=0.32, count=count), (1, 1), np.random.default_rng(seed))) - 32
            for seed in range(3000)
        )
        for count in ("code", "paper")
    }
    assert set(counts["code"]) == set(range(10))  # min(10, ⌊0.32 · 32⌋) values, from 0
    assert set(counts["paper"]) == set(range(11))  # 0 to max(2, ⌊0.32 · 32⌋)
    for actual in counts.values():
        expected = 3000 / len(actual)
        assert all(abs(n - expected) < 5 * math.sqrt(expected) for n in actual.values())


def test_the_positive_is_repeated_the_same_in_every_epoch(choose_views):
    anchor = [2, *range(10, 40), 3]
    views = [choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row)[0] for row in range(50)]
    assert all(first == anchor and negative == [2, 3] for first, _, negative in views)
    assert len({len(positive) for _, positive, _ in views}) > 5
    assert views == [
        choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row, epoch=1)[0] for row in range(50)
    ]
    again = [
        choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row, epoch=1, redraw=True)[0]
        for row in range(50)
    ]
    assert again != views


@pytest.mark.parametrize("count", ["code", "paper"])
def test_repeated_texts_have_to_fit_the_encoder(tiny_encoder, count):
    values = {"rate": 0.5, "count": count}
    chooser = find("repetition").views(Settings(**values), make_recipe({}))
    lengths = [
        len(repeat(np.arange(20), Settings(**values), (1, 1), np.random.default_rng(n))) for n in range(300)
    ]
    assert max(lengths) == chooser.longest(20)
    for length in (3, 64 - (9 if count == "code" else 21)):
        start(tiny_encoder, make_recipe({"max_length": length, "repetition": values}), torch.device("cpu"))
    for length in (64 - (8 if count == "code" else 20), 64):
        with pytest.raises(UsageError, match=f"max_length = {length} .*tiny reads at most 64 tokens"):
            start(
                tiny_encoder, make_recipe({"max_length": length, "repetition": values}), torch.device("cpu")
            )
