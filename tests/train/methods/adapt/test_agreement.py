"""What the start says about other texts, against a slow reference, and in whole runs."""

import numpy as np
import pytest

from augment_cli import api
from tests.helpers.cached_vectors import add_vectors
from tests.helpers.training import cos, draw, logged_run
from tests.train.methods.rankcse.test_ranking import slow_list_net
from train.additions import find
from train.loading import make_recipe
from train.objectives.views import ViewChooser


def test_the_term_of_a_batch(taught):
    z, known = draw(6, 3, 4), draw(6, 3, 5, seed=1)  # anchors, positives, other texts
    texts = np.arange(18).reshape(6, 3)
    texts[4, 2] = texts[1, 2]  # two rows with one text stand in no list of each other
    texts[3, 2] = -1  # a row that brings none
    addition, batch = taught(
        "agreement",
        z,
        known,
        texts,
        {"temperature": 0.5, "teacher_temperature": 0.3},
        {"agreement": {}},
        first=2,
    )
    there = [0, 1, 2, 4, 5]
    student, start = (np.array([[cos(x[i, 2], x[j, 2]) for j in there] for i in there]) for x in (z, known))
    left_out = np.array([[i == j or texts[i, 2] == texts[j, 2] for j in there] for i in there])
    assert addition.loss(batch).item() == pytest.approx(
        slow_list_net(student, start, left_out).mean(), rel=1e-9
    )


def test_the_term_on_vectors_is_each_ones_distance_beside_that_of_two_texts(taught):
    z, known = draw(6, 3, 4), draw(6, 3, 4, seed=1)
    texts = np.arange(18).reshape(6, 3)
    texts[3, 2] = -1
    addition, batch = taught("agreement", z, known, texts, {"on": "vectors"}, {"agreement": {}}, first=2)
    there = (0, 1, 2, 4, 5)
    slow = [1 - cos(z[i, 2], known[i, 2]) for i in there]
    spread = np.mean([1 - cos(known[i, 2], known[j, 2]) for i in there for j in there if i != j])
    assert addition.loss(batch).item() == pytest.approx(np.mean(slow) / spread, rel=1e-6)


def test_some_rows_bring_their_other_text(choose_views):
    def chosen(row_id, epoch, **settings):
        texts = {"random-sentence": [101, 8, 102]}
        (_, other), labels = choose_views("agreement", [[101, 5, 102]], texts, row_id, epoch, **settings)
        assert labels == [row_id, 0, epoch]
        return other

    brought = [chosen(row, 0) for row in range(400)]
    assert 100 < sum(other == [101, 8, 102] for other in brought) < 200  # three of eight
    assert brought.count(None) == 400 - sum(other == [101, 8, 102] for other in brought)
    assert [chosen(row, 1) for row in range(400)] != brought
    assert all(chosen(row, 0, share=1.0) for row in range(20))


def test_anchors_and_other_texts_are_all_that_is_encoded(tiny_encoder):
    from transformers import AutoTokenizer

    recipe = make_recipe({"teacher": {}, "agreement": {}, "contrastive_weight": 0.0})
    views = ViewChooser(recipe, AutoTokenizer.from_pretrained(tiny_encoder), slice(0, 4))
    assert views.count(0) == (1, 2)
    assert views.columns == ("corpus", "random-sentence")
    assert find("agreement").anchors_alone


def test_a_run_keeps_what_the_start_says(store_copy, tiny_encoder, tmp_path):
    api.run("random-sentence", store_copy, jobs=1)
    for stage in ("corpus", "random-sentence"):
        api.embed(store_copy, stage, name="start", model=tiny_encoder, jobs=1)
    add_vectors(store_copy, "corpus", draw(150, 4), "teacher")
    values = {"steps": 20, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0}
    taught = {"teacher": {"temperature": 0.2, "teacher_temperature": 0.2}}

    def terms(weight):
        more = {"agreement": {"weight": weight, "share": 1.0}}
        result, events = logged_run(
            store_copy, tiny_encoder, tmp_path / f"run-{weight}", values | taught | more
        )
        assert {"random-sentence", "vectors-start"} < set(result.facts["data"])
        return [event["agreement_loss"] for event in events if "agreement_loss" in event]

    without, kept = terms(0.0), terms(5.0)
    assert kept[0] == without[0]  # the entropy of what the start says, before the first step
    gaps = [much - little for much, little in zip(without, kept, strict=True)]
    assert np.mean(gaps[2:]) > 0.003  # 0.01 where it was written; rounding differs between processors
