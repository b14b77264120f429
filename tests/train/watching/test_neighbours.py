"""The dev score without labels: against loops, on texts whose topics are known, where there are too few."""

import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from augment_cli.errors import MixError
from augment_cli.store.store import Store
from tests.helpers.training import draw
from train.loading import make_recipe
from train.watching.evaluate import FOUND_FALL, HarmWatch, Neighbourhoods, dev_test

TOPICS = [
    "river water bank flood rain",
    "engine wheel brake road tyre",
    "flour oven bread salt yeast",
    "violin cello chord choir opera",
    "court judge appeal verdict jury",
    "pollen stamen petal seed leaf",
]


def sentence(row):
    """Of one of the topics, by the row; no two are equal."""
    words = np.random.default_rng(row).permutation(TOPICS[row % len(TOPICS)].split())[:4]
    return " ".join([*words, f"number{row}"])


@pytest.fixture(scope="module")
def topics_store(build_store, tmp_path_factory):
    folder = build_store(tmp_path_factory.mktemp("topics") / "store", list(map(sentence, range(240))), 120)
    return Store.open(folder)


class ByTopic:
    """An encoder that sees the topic of a text's words, and noise."""

    def __init__(self, noise):
        self.noise = noise

    def encode(self, texts):
        seen = [[any(word in topic.split() for word in text.split()) for topic in TOPICS] for text in texts]
        noise = draw(len(texts), len(TOPICS), seed=sum(map(len, texts)))
        return np.array(seen, dtype=float).reshape(noise.shape) + self.noise * noise


class Collapsed:
    """Every text on one line, by its first letter."""

    def encode(self, texts):
        places = np.array([ord((text or "a")[0]) for text in texts]) + 0.01 * draw(len(texts), 1)[:, 0]
        angles = np.pi * (places - 90) / 90
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def scores(test, encoder, before=None):
    return test.scores(test.measure(encoder), before or {})


def gain(test, start, best):
    return test.gain(test.measure(start), test.measure(best))


def test_an_encoder_that_mixes_topics_or_collapses_scores_less(topics_store):
    evaluate = Neighbourhoods.of(topics_store)
    before = scores(evaluate, ByTopic(0.2))
    assert list(before) == [
        "neighbours",
        "shared_neighbours",
        "half_neighbours",
        "found_by_half",
        "effective_rank",
        "anisotropy",
    ]
    assert before["neighbours"] == 1
    assert scores(evaluate, ByTopic(0.01), before)["neighbours"] > 1
    assert scores(evaluate, ByTopic(50.0), before)["neighbours"] < 0.5
    collapsed = scores(evaluate, Collapsed(), before)
    assert collapsed["shared_neighbours"] > before["shared_neighbours"]  # which alone would choose it
    assert collapsed["neighbours"] < 0.7
    assert scores(Neighbourhoods.of(topics_store), ByTopic(0.2)) == before  # the same sample every time


class ByWord:
    """An encoder that sees each word, and beside it the topic, with a weight."""

    def __init__(self, weight):
        self.weight = weight

    def encode(self, texts):
        topics = self.weight * ByTopic(0.0).encode(texts)
        words = [
            sum(draw(1, 40, seed=zlib.crc32(word.encode()))[0] for word in text.split()) for text in texts
        ]
        return np.hstack([topics, np.array(words)])


def test_texts_of_a_topic_that_are_mixed_up_are_seen_and_do_not_decide(topics_store):
    evaluate = Neighbourhoods.of(topics_store)
    before = scores(evaluate, ByWord(1.0))
    mixed = scores(evaluate, ByWord(100.0), before)
    assert mixed["neighbours"] > 1
    assert mixed["found_by_half"] < before["found_by_half"] - FOUND_FALL
    said = []
    HarmWatch(10, lambda step, message: said.append((step, message))).scores(before, mixed, 5)
    assert any(step == 5 and "half of its words finds a text less often" in text for step, text in said)
    said.clear()
    HarmWatch(10, lambda step, message: said.append((step, message))).scores(mixed, before, 5)
    assert not any("half of its words" in text for _, text in said)


def test_a_gain_has_an_interval_over_texts(topics_store):
    test = Neighbourhoods.of(topics_store)
    gained, low, high = gain(test, ByTopic(0.5), ByTopic(0.1))
    ratio = scores(test, ByTopic(0.1), scores(test, ByTopic(0.5)))["neighbours"]
    assert 0 < low < gained < high < low + gained
    assert gained == pytest.approx(ratio - 1)
    assert gain(test, ByTopic(0.5), ByTopic(0.5)) == (0, 0, 0)
    gained, low, high = gain(test, ByTopic(0.1), ByTopic(0.5))
    assert low < gained < high < 0


def test_the_score_of_an_earlier_version_is_not_compared_with(topics_store):
    with pytest.raises(MixError, match="without shared_neighbours, half_neighbours, by an earlier version"):
        scores(Neighbourhoods.of(topics_store), ByTopic(0.2), {"neighbours": 0.3, "effective_rank": 8.0})


def test_a_small_corpus_has_no_score(tiny_store):
    assert Neighbourhoods.of(Store.open(tiny_store)) is None


def test_it_decides_where_there_is_no_stsb_and_where_a_recipe_says_so(topics_store, monkeypatch):
    found = dev_test(None, make_recipe({"held_out": 0.2}), topics_store)(ByTopic(0.5), {})
    assert next(iter(found)) == "neighbours"
    assert "pair_retrieval" in found
    monkeypatch.setattr("train.watching.evaluate.has_stsb", lambda data: True)
    monkeypatch.setattr(
        "train.watching.evaluate.stsb", lambda encode, data, split: SimpleNamespace(spearman=0.5)
    )
    for dev, first in [("auto", "stsb_dev"), ("neighbours", "neighbours")]:
        found = dev_test(topics_store.path, make_recipe({"dev": dev}), topics_store)(ByTopic(1), {})
        assert next(iter(found)) == first
        assert found["stsb_dev"] == 0.5
