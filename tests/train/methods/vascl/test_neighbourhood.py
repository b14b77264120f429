"""VaSCL: neighbourhoods, both losses, the length and the ascent of δ, where the gradient goes."""

import math

import numpy as np
import pytest
import torch

from tests.helpers.training import check_gradients, cos, draw, numeric_gradient
from train.data.texts import NO_TEXT
from train.heads import make_head
from train.loading import load_recipe
from train.methods.vascl.neighbourhood_addition import (
    Settings,
    ascend,
    both_ways,
    neighbours,
    towards_neighbours,
)

TAU = 0.5


def a_head(dimension=16):
    torch.manual_seed(3)
    return make_head("relu", dimension).double()


# --- neighbourhoods


def test_neighbours_are_the_rows_of_largest_inner_product():
    e, texts = draw(9, 4), np.arange(9)
    texts[5] = texts[2]
    texts[8] = NO_TEXT
    actual = neighbours(torch.tensor(e), torch.tensor(texts), 3)
    for i in range(8):
        others = [k for k in range(8) if k != i and texts[k] != texts[i]]
        assert actual.index[i].tolist() == sorted(others, key=lambda k: -float(e[i] @ e[k]))[:3]
        assert actual.valid[i].all()
    assert not actual.valid[8].any()
    equal = neighbours(torch.tensor(e), torch.tensor(texts), 8, mask_equal_texts=False)
    assert 5 in equal.index[2, :7].tolist()


def test_no_more_neighbours_than_there_are():
    actual = neighbours(torch.tensor(draw(4, 3)), torch.arange(4), 16)
    assert actual.index.shape == (4, 3)
    assert sorted(actual.index[0].tolist()) == [1, 2, 3]
    few = neighbours(torch.tensor(draw(4, 3)), torch.tensor([7, 7, 7, 8]), 16)
    assert few.valid.sum(1).tolist() == [1, 1, 1, 3]
    alone = neighbours(torch.tensor(draw(1, 3)), torch.tensor([7]), 16)
    assert towards_neighbours(torch.ones(1, 3), torch.ones(1, 3), alone, TAU).tolist() == [0.0]


# --- the losses


def reference_towards(clean, moved, near):
    losses = []
    for i, around in enumerate(near):
        right = math.exp(cos(moved[i], clean[i]) / TAU)
        wrong = sum(math.exp(cos(moved[i], clean[k]) / TAU) for k in around)
        losses.append(-math.log(right / (right + wrong)))
    return np.array(losses)


def reference_both(clean, moved, near):
    losses = []
    for rows, positives in ((clean, moved), (moved, clean)):
        for i, around in enumerate(near):
            right = math.exp(cos(rows[i], positives[i]) / TAU)
            wrong = sum(math.exp(cos(rows[i], side[k]) / TAU) for k in around for side in (clean, moved))
            losses.append(-math.log(right / (right + wrong)))
    return np.array(losses).reshape(2, -1).mean(axis=0)


@pytest.mark.parametrize(
    ("loss", "reference"), [(towards_neighbours, reference_towards), (both_ways, reference_both)]
)
def test_losses_and_gradients(loss, reference):
    texts = torch.tensor([0, 1, 2, 3, 4, 4])  # the last two have a neighbour less
    near = neighbours(torch.tensor(draw(6, 4, seed=3)), texts, 5)
    lists = [row[valid].tolist() for row, valid in zip(near.index, near.valid, strict=True)]
    assert [len(row) for row in lists] == [5, 5, 5, 5, 4, 4]
    check_gradients(
        lambda *pair: loss(*pair, near, TAU),
        lambda *pair: reference(*pair, lists),
        [draw(6, 4), draw(6, 4, seed=1)],
    )


# --- δ


def setting(**values):
    return Settings(**({"neighbours": 4, "radius": 3.0} | values))


def losses_at(head, e, near, delta):
    with torch.no_grad():
        return towards_neighbours(head(e), head(e + delta), near, TAU)


@pytest.mark.parametrize("start", ["gaussian", "uniform"])
@pytest.mark.parametrize("ascent", ["normalised", "projected"])
@pytest.mark.parametrize("steps", [1, 4])
def test_delta_has_its_length_and_climbs(start, ascent, steps):
    head, e = a_head(), torch.tensor(draw(40, 16))
    near = neighbours(e, torch.arange(40), 4)

    def actual(steps):
        torch.manual_seed(7)
        return ascend(head, e, near, TAU, setting(start=start, ascent=ascent, steps=steps))

    begin, end = actual(0), actual(steps)
    assert not end.requires_grad
    torch.testing.assert_close(begin.norm(dim=1), torch.full((40,), 3.0).double())
    if ascent == "normalised":
        torch.testing.assert_close(end.norm(dim=1), torch.full((40,), 3.0).double())
    else:
        assert (end.norm(dim=1) <= 3.0 + 1e-9).all()
    before, after = losses_at(head, e, near, begin), losses_at(head, e, near, end)
    assert after.mean() > before.mean() + 0.05
    assert (after > before).float().mean() > 0.75
    # A random δ of the same length does nothing of the kind.
    torch.manual_seed(8)
    other = torch.randn_like(e)
    assert (
        after.mean() > losses_at(head, e, near, 3.0 * other / other.norm(dim=1, keepdim=True)).mean() + 0.05
    )


def test_more_small_steps_climb_higher():
    head, e = a_head(), torch.tensor(draw(40, 16))
    near = neighbours(e, torch.arange(40), 4)
    means = []
    for steps in (0, 1, 2, 4, 8):
        torch.manual_seed(7)
        delta = ascend(head, e, near, TAU, setting(ascent="projected", step_size=0.1, steps=steps))
        means.append(losses_at(head, e, near, delta).mean().item())
    assert means == sorted(means)


def test_one_step_is_the_normalised_gradient_at_the_start():
    head, e = a_head(), draw(5, 16)
    near = neighbours(torch.tensor(e), torch.arange(5), 3)
    torch.manual_seed(7)
    start = torch.randn(5, 16, dtype=torch.float64).numpy()
    start *= 3.0 / np.linalg.norm(start, axis=1, keepdims=True)

    def total(delta):
        return losses_at(head, torch.tensor(e), near, torch.tensor(delta)).sum().item()

    gradient = numeric_gradient(total, start)
    torch.manual_seed(7)
    delta = ascend(head, torch.tensor(e), near, TAU, setting()).numpy()
    np.testing.assert_allclose(
        delta, 3.0 * gradient / np.linalg.norm(gradient, axis=1, keepdims=True), atol=1e-6
    )


def test_the_ascent_leaves_no_trace_in_accumulated_gradients():
    head, e = a_head(), torch.tensor(draw(8, 16), requires_grad=True)
    for parameter in head.parameters():
        parameter.grad = torch.full_like(parameter, 0.125)
    seen = []
    for parameter in head.parameters():  # what a reducer of gradients would hook into
        parameter.register_post_accumulate_grad_hook(lambda parameter: seen.append(parameter))
    ascend(head, e, neighbours(e, torch.arange(8), 3), TAU, setting(steps=3))
    assert all((parameter.grad == 0.125).all() for parameter in head.parameters())
    assert e.grad is None
    assert not seen


# --- where the gradient goes


@pytest.mark.parametrize("gradient", ["head_perturbed", "head_both", "full"])
def test_gradient_destination(make_addition, make_batch, gradient):
    values, head = draw(6, 2, 16), a_head()
    e = torch.tensor(values, requires_grad=True)
    addition = make_addition("neighbourhood", neighbours=3, radius=2.0, gradient=gradient)
    texts = torch.arange(6)[:, None].expand(6, 2)
    torch.manual_seed(9)
    term = addition.loss(make_batch(e, e, texts=texts, head=head, tau=TAU))
    term.backward()

    torch.manual_seed(9)
    first = values[:, 0]
    near = neighbours(torch.tensor(first), texts[:, 0], 3)
    delta = ascend(head, torch.tensor(first), near, TAU, addition.settings).numpy()
    lists = near.index.tolist()
    weights = [parameter.detach().numpy() for parameter in head.parameters()]

    def loss_of(clean_from, moved_from, clean_weights, moved_weights):
        def apply(x, layers):
            return np.maximum(x @ layers[0].T, 0) @ layers[1].T

        clean, moved = apply(clean_from, clean_weights), apply(moved_from + delta, moved_weights)
        return reference_both(clean, moved, lists).mean()

    assert term.item() == pytest.approx(loss_of(first, first, weights, weights), rel=1e-12)
    for layer, parameter in enumerate(head.parameters()):

        def moved_layer(changed, layer=layer):
            other = [*weights]
            other[layer] = changed
            return loss_of(first, first, weights if gradient == "head_perturbed" else other, other)

        some = np.s_[:2]  # two rows of the layer are enough, and quick
        expected = numeric_gradient(
            lambda rows, layer=layer, f=moved_layer: f(np.concatenate([rows, weights[layer][2:]])),
            weights[layer][some].copy(),
        )
        np.testing.assert_allclose(parameter.grad[some], expected, atol=1e-8)
    if gradient == "full":
        expected = numeric_gradient(lambda x: loss_of(x, x, weights, weights), first)
        np.testing.assert_allclose(e.grad[:, 0], expected, atol=1e-8)
        assert np.abs(expected).max() > 1e-3
    else:
        assert e.grad is None or not e.grad.any()


def test_settings_of_the_recipe():
    recipe = load_recipe("vascl")
    assert recipe.batch == 1024
    assert recipe.learning_rate * recipe.head_learning_rate_scale == pytest.approx(5e-4)
    assert (recipe.head, recipe.pooling, recipe.loss) == ("relu", "mean", "nt-xent")
    assert recipe.additions["neighbourhood"]["gradient"] == "head_perturbed"
