"""Turned sentences: the term against a slow reference, choices, the dev score."""

import math
from types import SimpleNamespace

import numpy as np
import torch

from augment_cli.runs.recipe import load
from augment_cli.store.store import Store
from tests.helpers.training import check_gradients, cos, draw, quick_run
from train.additions import make_views
from train.additions.base import Row
from train.data import NO_TEXT
from train.data.order import is_held_out
from train.loading import load_recipe, make_recipe
from train.methods.adapt.columns import MEANING, text_columns
from train.methods.meaning.turned_addition import Settings as Turns
from train.methods.meaning.turned_addition import ToldApart, Turned
from train.outputs.log import read_log


def turned_reference(anchors, positives, turned, there, temperature):
    losses = []
    for a, p, own, is_there in zip(anchors, positives, turned, there, strict=True):
        pair = math.exp(cos(a, p) / temperature)
        others = [[math.exp(cos(u, n) / temperature) for n in own[is_there]] for u in (a, p)]
        losses.append(np.mean([math.log((pair + sum(side)) / pair) for side in others]))
    return np.array(losses)


def test_the_term_is_the_slow_one_over_rows_that_have_turned_sentences(make_addition, make_batch):
    texts = torch.arange(16).reshape(4, 4)
    texts[1, 3] = texts[2, 2] = texts[2, 3] = NO_TEXT
    texts[3] = NO_TEXT  # padding
    addition = make_addition("turned", stages=("negation",), count=2, temperature=0.5)
    there = (texts[:2, 2:] != NO_TEXT).numpy()
    check_gradients(
        lambda value: addition.loss(make_batch(value, texts=texts, own=slice(2, 4))),
        lambda z: turned_reference(z[:2, 0], z[:2, 1], z[:2, 2:], there, 0.5).mean(),
        [draw(4, 4, 3)],
        atol=1e-7,
    )


RECIPE = make_recipe({"positives": ["rephrase", "voice"], "head": "none", "turned": {"stages": ["negation"]}})
STAGES = ("negation", "antonym", "swap", "number")
ids = {name: np.array([number, 7, 8]) for number, name in enumerate(("corpus", "rephrase", "voice", *STAGES))}


def chosen(texts, row_id=0, epoch=0, **settings):
    views = Turned.views(Turns(stages=STAGES, **settings), RECIPE)
    row = Row(row_id, epoch, [ids["corpus"], ids["corpus"]], lambda stage: texts.get(stage), (0, 0))
    found, labels = views.choose(row)
    assert labels == [] and len(found) == 2 + views.count
    name = {tuple(value): key for key, value in ids.items()}
    return [name[tuple(text)] if text is not None else None for text in found]


def test_a_row_draws_its_positive_and_some_of_its_turned_sentences():
    names = ("rephrase", "voice", *STAGES)
    many = [chosen({name: ids[name] for name in names}, row_id=row, count=2) for row in range(60)]
    assert {views[1] for views in many} == {"rephrase", "voice"}
    assert {name for views in many for name in views[2:]} == set(STAGES)
    assert all(len(set(views)) == 4 for views in many)
    texts = {name: ids[name] for name in names}
    assert chosen(texts, 3, 1) == chosen(texts, 3, 1) != chosen(texts, 3, 2)


def test_a_partner_comes_first_and_a_change_that_was_cut_off_is_left_out():
    texts = {name: ids[name] for name in ("rephrase", "voice", *STAGES)}
    for row in range(20):
        views = chosen(texts, row, partners=("voice:swap,antonym",))
        assert views[:4] == ["corpus", "voice", "swap", "antonym"]
    cut = texts | {"negation": ids["corpus"], "antonym": ids["voice"]}
    assert set(chosen(cut, partners=("voice:swap",))[2:]) == {"swap", "number", None}
    assert chosen({}) == ["corpus", "corpus", None, None, None]


def test_the_recipe_reads_what_the_recipe_of_augmentations_makes():
    recipe = load_recipe("minimal-pairs")
    assert set(text_columns(recipe)) <= {entry.stage for entry in load(MEANING)}
    # The regression looks up the vector of the positive that was drawn, so it chooses after it.
    assert [type(views).__name__ for views in make_views(recipe)] == ["_Turned", "_OtherTexts", "PairLabels"]


def test_the_dev_score_counts_held_out_rows_that_are_told_apart(tiny_store):
    recipe = make_recipe(
        {"positives": ["aa", "self"], "held_out": 0.3, "head": "none", "turned": {"stages": ["pi"]}}
    )
    store = Store.open(tiny_store)
    (test,) = Turned.dev_tests(Turns(("pi",)), recipe, store)
    texts = {stage: store.read(stage)["text"].to_pylist() for stage in ("corpus", "aa", "pi")}
    held = np.flatnonzero(is_held_out(np.arange(150), 0.3))
    assert test.rows == [
        (texts["corpus"][row], [texts["aa"][row]], [texts["pi"][row]])
        for row in held
        if texts["aa"][row] and texts["pi"][row]
    ]
    assert not Turned.dev_tests(Turns(("pi",)), make_recipe({"positives": ["aa"], "head": "none"}), store)


def test_a_run_logs_the_cosines_of_held_out_rows(tiny_store, tiny_encoder, tmp_path):
    values = {"positives": ["aa"], "head": "none", "turned": {"stages": ["pi"]}, "held_out": 0.3, "steps": 2}
    quick_run(tiny_store, tiny_encoder, tmp_path, **values, watching={"dev": "method"}, evaluate_every=2)
    logged = [event for event in read_log(tmp_path / "log.jsonl") if event["event"] == "cosines"]
    assert [event["step"] for event in logged] == [0, 2]
    for event in logged:
        for kind in ("paraphrases", "turned sentences"):
            assert len(event[kind]) == 101 and event[kind] == sorted(event[kind])


def test_all_paraphrases_are_nearer_than_all_that_is_turned():
    test = ToldApart([("a", ["near", "mid"], ["far"]), ("a", ["near", "far"], ["mid", "far"])])
    angles = {"a": 0.0, "near": 0.1, "mid": 0.5, "far": 1.0}

    def encode(texts):
        return np.array([[math.cos(angles[text]), math.sin(angles[text])] for text in texts])

    measured = test.measure(SimpleNamespace(encode=encode))
    assert test.scores(measured, {}) == {"told_apart": 0.5}
    cosines = {kind: np.arccos(each).round(6).tolist() for kind, each in test.cosines(measured).items()}
    assert cosines == {"paraphrases": [0.1, 0.5, 0.1, 1.0], "turned sentences": [1.0, 0.5, 1.0]}
    many = ToldApart(test.rows[:1] * 50)
    apart, mixed = ([np.array(row)] * 50 for row in ([0.9, 0.8, 0.7], [0.9, 0.7, 0.8]))
    assert many.gain(mixed, apart)[0] == 1
