"""The dev score without labels: against loops, on texts whose topics are known, and where there are none."""

import numpy as np
import pytest

from augment_cli.store.store import Store
from tests.helpers.training import cos, draw
from train.loading import make_recipe
from train.watching.evaluate import dev_test
from train.watching.neighbours import NEAREST, agreement, neighbour_agreement

TOPICS = [
    "river water bank flood rain", "engine wheel brake road tyre", "flour oven bread salt yeast",
    "violin cello chord choir opera", "court judge appeal verdict jury", "pollen stamen petal seed leaf",
]  # fmt: skip


def sentence(row):
    """Of one of the topics, by the row; no two are equal."""
    words = np.random.default_rng(row).permutation(TOPICS[row % len(TOPICS)].split())[:4]
    return " ".join([*words, f"number{row}"])


@pytest.fixture(scope="module")
def topics_store(build_store, tmp_path_factory):
    folder = build_store(tmp_path_factory.mktemp("topics") / "store", list(map(sentence, range(240))), 120)
    return Store.open(folder)


class ByTopic:
    """An encoder that sees a text's topic, and a share of noise."""

    def __init__(self, noise):
        self.noise = noise

    def encode(self, texts):
        topics = [
            next(place for place, words in enumerate(TOPICS) if text.split()[0] in words) for text in texts
        ]
        return np.eye(8)[topics] + self.noise * draw(len(texts), 8)


def test_agreement_is_that_of_the_definition():
    vectors, topics = draw(30, 4), draw(30, 3, seed=1)
    every = []
    for i in range(30):
        others = sorted((j for j in range(30) if j != i), key=lambda j: -cos(vectors[i], vectors[j]))
        every += [cos(topics[i], topics[j]) for j in others[:NEAREST]]
    assert agreement(vectors, topics) == pytest.approx(np.mean(every), rel=1e-6)


def test_an_encoder_that_mixes_topics_scores_less(topics_store):
    evaluate = neighbour_agreement(topics_store)
    scores = [evaluate(ByTopic(noise)) for noise in (0.01, 0.5, 50.0)]
    values = [score["neighbours"] for score in scores]
    assert values[0] > 0.5 > values[1] > values[2] + 0.1
    assert list(scores[0]) == ["neighbours", "effective_rank", "anisotropy"]
    assert neighbour_agreement(topics_store)(ByTopic(0.5)) == scores[1]  # the same sample every time


def test_a_small_corpus_and_one_without_common_words_have_no_score(tiny_store, build_store, tmp_path):
    assert neighbour_agreement(Store.open(tiny_store)) is None
    strangers = build_store(
        tmp_path / "strangers", [f"word{2 * row} word{2 * row + 1}" for row in range(240)], 240
    )
    assert neighbour_agreement(Store.open(strangers)) is None


def test_it_decides_where_there_is_no_stsb_and_where_a_recipe_says_so(topics_store, monkeypatch):
    scores = dev_test(None, make_recipe({"held_out": 0.2}), topics_store)(ByTopic(0.5))
    assert list(scores)[:3] == ["neighbours", "effective_rank", "anisotropy"]
    assert "pair_retrieval" in scores
    monkeypatch.setattr("train.watching.evaluate.has_stsb", lambda data: True)
    monkeypatch.setattr("train.watching.evaluate.stsb_dev", lambda data: lambda encoder: {"stsb_dev": 0.5})
    for dev, first in [("auto", "stsb_dev"), ("neighbours", "neighbours")]:
        scores = dev_test(topics_store.path, make_recipe({"dev": dev}), topics_store)(ByTopic(1))
        assert next(iter(scores)) == first
        assert "stsb_dev" in scores
