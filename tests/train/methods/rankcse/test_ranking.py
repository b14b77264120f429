"""RankCSE's terms in value and gradient against slow references in float64, and in whole runs."""

import math

import numpy as np
import pytest
import torch

from tests.helpers.training import check_gradients, cos, draw
from train.methods.rankcse.ranking_addition import consistency, list_mle, list_net

TAU, TEACHER = 0.5, 0.3


def lists(left_out):
    return [[j for j in range(len(row)) if not row[j]] for row in left_out]


def softmax(values):
    terms = [math.exp(value) for value in values]
    return [term / sum(terms) for term in terms]


def slow_list_net(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        own, right = (
            softmax([s[i, j] / tau for j in row]) for s, tau in ((student, TAU), (teacher, TEACHER))
        )
        losses.append(-sum(q * math.log(p) for q, p in zip(right, own, strict=True)))
    return np.array(losses)


def slow_list_mle(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        order, likelihood = sorted(row, key=lambda j: -teacher[i, j]), 1.0
        for place, j in enumerate(order):
            rest = sum(math.exp(student[i, k] / TAU) for k in order[place:])
            likelihood *= math.exp(student[i, j] / TAU) / rest
        losses.append(-math.log(likelihood))
    return np.array(losses)


def slow_consistency(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        p, q = (softmax([side[i, j] / TAU for j in row]) for side in (student, teacher))
        m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        losses.append(sum(a * math.log(a / c) / 2 for side in (p, q) for a, c in zip(side, m, strict=True)))
    return np.array(losses)


TERMS = {
    "list-net": (lambda s, t, out: list_net(s, t, out, TAU, TEACHER), slow_list_net),
    "list-mle": (lambda s, t, out: list_mle(s, t, out, TAU), slow_list_mle),
    "consistency": (lambda s, t, out: consistency(s, t, out, TAU), slow_consistency),
}


@pytest.mark.parametrize("name", TERMS)
def test_value_and_gradient_of_each_term(name):
    fast, slow = TERMS[name]
    student, teacher = draw(5, 6), draw(5, 6, seed=1)
    left_out = np.random.default_rng(2).random((5, 6)) < 0.3
    left_out[3] = True  # a row of padding has an empty list, loss 0 and no gradient
    losses = check_gradients(
        lambda value: fast(value, torch.tensor(teacher), torch.tensor(left_out)),
        lambda moved: slow(moved, teacher, left_out),
        [student],
        atol=1e-7,
        rtol=1e-9,
    )
    assert losses[3] == 0


def test_the_teachers_own_similarities_are_the_best_for_list_net_and_their_order_for_list_mle():
    teacher, out = torch.tensor(draw(4, 5)), torch.zeros(4, 5, dtype=torch.bool)
    shuffled = teacher.flip(1)
    same = list_net(teacher, teacher, out, TAU, TAU)
    entropy = -(probabilities := (teacher / TAU).softmax(1)).mul(probabilities.log()).sum(1)
    torch.testing.assert_close(same, entropy)
    assert (same < list_net(shuffled, teacher, out, TAU, TAU)).all()
    far_apart = 100 * teacher.argsort(1).argsort(1).double()  # the teacher's order, and nothing else of it
    assert list_mle(far_apart, teacher, out, TAU).max() < 1e-9
    assert consistency(teacher, teacher, out, TAU).abs().max() < 1e-12


def reference_run(z, teacher, texts, settings):
    """The term of a batch of anchors and positives, shape (B, 2, d), in loops."""
    rows = range(len(z))
    student = np.array([[cos(z[i, 0], z[j, 1]) for j in rows] for i in rows])
    known = np.array([[cos(teacher[i, 0], teacher[j, 1]) for j in rows] for i in rows])
    left_out = np.array([[bool(set(texts[i]) & set(texts[j])) and i != j for j in rows] for i in rows])
    if not settings.get("own"):
        left_out |= np.eye(len(z), dtype=bool)
    slow = slow_list_net if settings.get("form", "list-net") == "list-net" else slow_list_mle
    both = slow_consistency(student, student.T, left_out)
    return float(np.mean(slow(student, known, left_out) + settings.get("consistency", 0) * both))


@pytest.mark.parametrize(
    "settings", [{}, {"own": True}, {"form": "list-mle"}, {"form": "list-mle", "consistency": 2.0}]
)
def test_the_term_of_a_batch(settings, taught):
    z, teacher = draw(6, 2, 4), draw(6, 2, 3, seed=1)
    texts = np.arange(12).reshape(6, 2)
    texts[4, 0] = texts[1, 0]  # two rows with one text stand in no list of each other
    temperatures = {"temperature": TAU, "teacher_temperature": TEACHER}
    addition, batch = taught("ranking", z, teacher, texts, settings | temperatures)
    assert addition.loss(batch).item() == pytest.approx(reference_run(z, teacher, texts, settings), rel=1e-9)
