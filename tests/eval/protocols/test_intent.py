"""Few-shot intent: the fixed splits, the training, and classes that are too small."""

import math

import numpy as np
import pytest

from eval.protocols import intent


def groups(per_class, classes=3, seed=0, spread=0.5):
    generator = np.random.default_rng(seed)
    labels = [f"c{i % classes}" for i in range(per_class * classes)]
    # Many dimensions a class, so that a thousand small steps outweigh the first weights.
    vectors = np.repeat(np.eye(classes), 200, axis=1)[[i % classes for i in range(len(labels))]]
    return (vectors + generator.normal(size=vectors.shape) * spread).astype(np.float32), labels


def test_splits_hold_k_of_each_class_for_training_and_k_others_for_validation():
    labels = np.array(["a"] * 30 + ["b"] * 50 + ["c"] * 11)
    for shots in (1, 5):
        train, validation, short = intent.draw_split(labels, shots, 2)
        assert not set(train) & set(validation)
        for rows in (train, validation):
            assert np.unique(labels[rows], return_counts=True)[1].tolist() == [shots] * 3
        assert not short


def test_splits_are_fixed_and_differ_by_number():
    labels = np.array(["a", "b"] * 40)
    first, again, other = (intent.draw_split(labels, 5, number)[0].tolist() for number in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("size", "expected"), [(1, (1, 0)), (3, (2, 1)), (7, (4, 3)), (9, (5, 4)), (10, (5, 5))]
)
def test_small_classes_give_the_larger_half_to_training_and_are_named(size, expected):
    labels = np.array(["small"] * size + ["large"] * 20)
    train, validation, short = intent.draw_split(labels, 5, 0)
    assert ((labels[train] == "small").sum(), (labels[validation] == "small").sum()) == expected
    assert short == (["small"] if size < 10 else [])


@pytest.mark.slow
def test_clear_classes_are_learnt_and_scores_are_means_over_splits():
    score = intent.score(groups(12), groups(10, seed=1), shots=[2, 5], splits=3)
    assert score.scores["accuracy_5"] > 0.95
    assert score.main == pytest.approx((score.scores["accuracy_2"] + score.scores["accuracy_5"]) / 2)
    assert score.items["correct_5"].mean() == pytest.approx(score.scores["accuracy_5"])
    again = [intent.score(groups(12), groups(10, seed=1), shots=[2], splits=1).scores for _ in range(2)]
    assert again[0] == again[1]


def test_small_classes_are_dropped_from_both_parts_where_the_task_says_so():
    vectors, labels = groups(12)
    labels = ["rare" if i < 3 else label for i, label in enumerate(labels)]
    test_vectors, test_labels = groups(5, seed=1)
    rest = [*["rare"] * 4, *["never seen"] * 2, *test_labels[6:]]
    score = intent.score((vectors, labels), (test_vectors, rest), minimum_class=4, shots=[2], splits=1)
    assert score.settings["classes"] == 3
    assert len(score.items["correct_2"]) == 9
    assert score.notes == ["2 classes with fewer than 4 examples dropped"]
    assert math.isnan(score.scores["sd_2"])


def test_unseen_labels_short_classes_and_broken_embeddings_are_named():
    vectors, labels = groups(4)
    test_vectors, test_labels = groups(4, seed=1)
    score = intent.score((vectors, labels), (test_vectors, ["new", *test_labels[1:]]), shots=[5], splits=1)
    assert "1 test rows have labels unseen in training, counted as errors: new" in score.notes[0]
    assert "3 classes have fewer than 10 examples for 5 shots" in score.notes[1]
    assert not score.items["correct_5"][0]
    assert "NaN" in intent.score((vectors * np.nan, labels), (test_vectors, test_labels)).notes[0]
    assert "one class" in intent.score((vectors, ["a"] * 12), (test_vectors, test_labels)).notes[0]
