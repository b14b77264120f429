"""Dev scores with and without labels, when to stop, what a run warns of."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from augment_cli.errors import MixError, UsageError
from augment_cli.store.store import Store
from tests.helpers.training import TOPICS, draw, quick_run, sentence
from train.data.order import is_held_out
from train.loading import make_recipe
from train.watching.early_stopping import DivergedError, EarlyStopping
from train.watching.evaluate import (
    HarmWatch,
    Neighbourhoods,
    PairRetrieval,
    STSBDev,
    dev_test,
    held_out_pairs,
)


def test_collapse_is_a_tiny_loss_with_a_falling_score():
    watch = EarlyStopping()
    watch.check(0.5, 1)
    assert watch.score(0.7, 10)
    assert not watch.score(0.5, 20)  # falling, but the loss is no sign of a shortcut
    for step in range(21, 121):
        watch.check(1e-5, step)
    assert not watch.score(0.68, 30)
    assert watch.is_patient(0) and not watch.collapsed
    assert not watch.score(0.6, 40)
    assert watch.collapsed == 40 and not watch.is_patient(0)
    assert EarlyStopping.from_json(json.loads(json.dumps(watch.as_json()))) == watch


def test_falling_below_the_starting_encoder_is_no_collapse():
    watch = EarlyStopping(loss=1e-5)
    assert watch.score(0.9, 0)
    assert not watch.score(0.6, 10)
    assert not watch.score(0.5, 20)
    assert watch.collapsed == 20
    assert "fell from 0.6000 to 0.5000" in watch.collapse(0.5)
    older = EarlyStopping(best=0.7, best_step=5).as_json()
    del older["reached"]
    assert EarlyStopping.from_json(older).reached == 0.7


@pytest.mark.parametrize(
    ("loss", "floor", "collapsed"), [(-0.5, -1.0, 0), (-5, -5, 20), (-5, -math.inf, 0), (1e-6, -math.inf, 0)]
)
def test_a_loss_collapses_at_its_own_floor_and_without_one_never(loss, floor, collapsed):
    watch = EarlyStopping()
    for step, score in [(10, 0.8), (20, 0.5)]:
        watch.check(loss, step, floor=floor)
        watch.score(score, step)
    assert watch.collapsed == collapsed
    with pytest.raises(DivergedError, match=r"the loss is nan.*; best/ holds the best .* of step 10$"):
        watch.check(math.nan, 30, floor=floor)


@pytest.mark.parametrize(("step", "remedy"), [(1, "No step was made yet"), (2, "Lower learning_rate")])
def test_before_the_first_update_the_rate_is_not_blamed(step, remedy):
    with pytest.raises(DivergedError, match=f"step {step}: the loss is nan. {remedy}") as error:
        EarlyStopping().check(math.nan, step)
    assert error.value.exit_code == 3  # 1 is a fault of ours


def test_held_out_rows_are_not_trained_on(tiny_store, tiny_encoder, tmp_path):
    pairs = held_out_pairs(Store.open(tiny_store), 0.3, ("aa",))
    texts = Store.open(tiny_store).read("corpus")["text"].to_pylist()
    held = np.flatnonzero(is_held_out(np.arange(150), 0.3)).tolist()
    changed = {first for first, second in pairs if second == f"does {first}"}
    assert changed == {texts[row] for row in held if row % 2}
    outcome = quick_run(tiny_store, tiny_encoder, tmp_path, held_out=0.3)
    assert outcome.steps == math.ceil((150 - len(held)) / 16)


def test_pair_retrieval_of_perfect_and_useless_encoders():
    test = PairRetrieval([(f"a{i}", f"b{i}") for i in range(20)])
    perfect = test.measure(SimpleNamespace(encode=lambda texts: np.eye(20)[[int(one[1:]) for one in texts]]))
    useless = test.measure(SimpleNamespace(encode=lambda texts: np.ones((len(texts), 4))))
    assert test.scores(perfect, {})["pair_retrieval"] == 1.0
    assert test.scores(useless, {})["pair_retrieval"] == 1 / 20
    gain, low, high = test.gain(useless, perfect)
    assert gain == pytest.approx(0.95) and 0.8 < low < 0.95 <= high <= 1
    assert test.gain(perfect, perfect) == (0, 0, 0)


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


START = {"effective_rank": 300.0, "anisotropy": 0.02, "neighbours": 1.0, "found_by_half": 0.9}


@pytest.fixture
def watched():
    """A watch of a run of 200 steps, and what it has said."""
    said = []
    return HarmWatch(200, lambda step, message: said.append((step, message))), said


def test_a_loss_of_nearly_nothing_is_said_once_and_only_early(watched):
    harm, said = watched
    for loss, step in [(1e-4, 9), (2e-3, 12), (1e-4, 51), (1e-4, 200)]:
        harm.loss(loss, step)
    assert not said
    harm.loss(1e-4, 10)
    harm.loss(1e-5, 20)
    ((step, message),) = said
    assert step == 10 and "the loss is 1.0e-04 above the least it can be" in message
    short, said_too = HarmWatch(30, lambda *parts: said_too.append(parts)), []
    short.loss(1e-4, 20)  # a quarter of a short run would be over before the mean says anything
    assert len(said_too) == 1


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"effective_rank": 250.0}, "the effective rank fell from 300 to 250"),
        ({"anisotropy": 0.3}, "the mean cosine of two texts rose from 0.02 to 0.30"),
        ({"found_by_half": 0.8}, "half of its words finds a text less often"),
        ({"neighbours": 0.94}, "what is near in the corpus stays together less than before"),
    ],
)
def test_a_space_that_loses_its_shape_is_said_once(watched, now, message):
    harm, said = watched
    harm.scores({}, START, 25)  # what was not measured is not compared
    harm.scores(START, START, 25)
    harm.scores(START, START | {"effective_rank": 280.0, "anisotropy": 0.06, "neighbours": 0.96}, 50)
    assert not said
    harm.scores(START, START | now, 75)
    harm.scores(START, START | now, 100)
    assert [(step, message in text) for step, text in said] == [(75, True)]


@pytest.fixture(scope="module")
def topics_store(build_store, tmp_path_factory):
    folder = build_store(tmp_path_factory.mktemp("topics"), list(map(sentence, range(240))), 120)
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
    evaluate = Neighbourhoods.of(topics_store, 128)
    before = scores(evaluate, ByTopic(0.2))
    measures = "neighbours shared_neighbours half_neighbours found_by_half effective_rank anisotropy"
    assert list(before) == measures.split()
    assert before["neighbours"] == 1
    assert scores(evaluate, ByTopic(0.01), before)["neighbours"] > 1
    mixed = scores(evaluate, ByTopic(50.0), before)
    assert mixed["neighbours"] < 0.5 and mixed["found_by_half"] < before["found_by_half"]
    collapsed = scores(evaluate, Collapsed(), before)
    assert collapsed["shared_neighbours"] > before["shared_neighbours"]  # which alone would choose it
    assert collapsed["neighbours"] < 0.7
    assert scores(Neighbourhoods.of(topics_store, 128), ByTopic(0.2)) == before  # the same sample every time


def test_a_gain_has_an_interval_over_texts(topics_store):
    test = Neighbourhoods.of(topics_store, 128)
    gained, low, high = gain(test, ByTopic(0.5), ByTopic(0.1))
    ratio = scores(test, ByTopic(0.1), scores(test, ByTopic(0.5)))["neighbours"]
    assert 0 < low < gained < high < low + gained
    assert gained == pytest.approx(ratio - 1)
    assert gain(test, ByTopic(0.5), ByTopic(0.5)) == (0, 0, 0)
    gained, low, high = gain(test, ByTopic(0.1), ByTopic(0.5))
    assert low < gained < high < 0


def test_of_long_texts_the_opening_is_read(topics_store):
    assert {len(text.split()) for text in Neighbourhoods.of(topics_store, 4).texts} == {4}


def test_a_small_corpus_has_no_score_and_that_of_an_earlier_version_is_not_compared_with(
    topics_store, tiny_store
):
    assert Neighbourhoods.of(Store.open(tiny_store), 128) is None
    with pytest.raises(MixError, match="without shared_neighbours, half_neighbours, by an earlier version"):
        scores(Neighbourhoods.of(topics_store, 128), ByTopic(0.2), {"neighbours": 0.3, "effective_rank": 8.0})


def test_a_training_of_which_nothing_could_tell_whether_it_helps_is_refused(tiny_store):
    # 150 rows of one text each: no neighbourhoods, and hardly a row is held out.
    for share, larger in (("0.01", "0.1"), ("0", "0.1")):
        with pytest.raises(UsageError, match=f"--set held_out={larger} to ask held-out texts"):
            dev_test(None, make_recipe({"held_out": float(share)}), Store.open(tiny_store))


def test_it_decides_where_there_is_no_stsb_and_where_a_recipe_says_so(topics_store, tiny_store, monkeypatch):
    found = dev_test(None, make_recipe({"held_out": 0.2}), topics_store)(ByTopic(0.5), {})
    assert next(iter(found)) == "neighbours"
    assert "pair_retrieval" not in found  # its texts are too short to have halves
    pairs = dev_test(None, make_recipe({"held_out": 0.3, "positives": ["aa"]}), Store.open(tiny_store))
    assert [*map(type, pairs.tests)] == [PairRetrieval]
    monkeypatch.setattr("train.watching.evaluate.has_stsb", lambda data: True)
    monkeypatch.setattr("train.watching.evaluate.stsb", lambda *_: SimpleNamespace(spearman=0.5))
    for dev, first in [("auto", "stsb_dev"), ("neighbours", "neighbours")]:
        found = dev_test(topics_store.path, make_recipe({"dev": dev}), topics_store)(ByTopic(1), {})
        assert next(iter(found)) == first
        assert found["stsb_dev"] == 0.5
