"""AugCSE and VaSCL: draws, labels, neighbourhoods, losses, and where the gradients go."""

import math
import shlex
from collections import Counter

import numpy as np
import pytest
import torch

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import check_gradients, cos, draw, numeric_gradient
from train.data import NO_TEXT
from train.heads import make_head
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.methods.augcse.discriminator_addition import classification_loss
from train.methods.vascl.neighbourhood_addition import (
    Settings,
    ascend,
    both_ways,
    neighbours,
    towards_neighbours,
)
from train.model import Model
from train.objectives.contrastive import ContrastiveObjective
from train.prepare import open_columns

STAGES = ("una", "pi")
ANCHOR = [2, 10, 11, 3]
TEXTS = {"una": [2, 20, 3], "pi": [2, 30, 3]}


@pytest.mark.slow
def test_each_augmentation_is_drawn_about_equally_and_the_same_in_every_epoch(choose_views):
    def chosen(row_id, **more):
        views, (label, _) = choose_views(
            "discriminator", [ANCHOR, ANCHOR], TEXTS, row_id, stages=STAGES, **more
        )
        assert views == [ANCHOR, ANCHOR, TEXTS[STAGES[label]]]
        return label

    first = [chosen(row_id) for row_id in range(400)]
    assert abs(Counter(first)[0] - 200) < 4 * math.sqrt(100)
    assert first == [chosen(row_id, epoch=3) for row_id in range(400)]
    assert first != [chosen(row_id, seed=1) for row_id in range(400)]
    again = [chosen(row_id, epoch=3, redraw=True) for row_id in range(400)]
    assert 120 < sum(a != b for a, b in zip(first, again, strict=True)) < 280


def test_the_augmented_sentence_as_the_positive_and_the_label_of_an_unchanged_row(choose_views):
    augmented = {"stages": STAGES, "positive": "augmented"}
    views, (label, _) = choose_views("discriminator", [ANCHOR, ANCHOR], TEXTS, **augmented)
    assert views == [ANCHOR, TEXTS[STAGES[label]]]
    for texts in ({}, {"una": ANCHOR, "pi": ANCHOR}):  # missing, and equal to the original
        views, (label, _) = choose_views("discriminator", [ANCHOR, ANCHOR], texts, stages=STAGES)
        assert (views, label) == ([ANCHOR] * 3, 2)


def reference_loss(logits, classes, form):
    losses = []
    for row, right in zip(logits, classes, strict=True):
        if form == "softmax":
            losses.append(-row[right] + math.log(sum(math.exp(x) for x in row)))
            continue
        terms = []
        for number, x in enumerate(np.tanh(row) if form == "bounded" else row):
            p = 1 / (1 + math.exp(-x))
            terms.append(-math.log(p if number == right else 1 - p))
        losses.append(sum(terms) / len(terms))
    return np.array(losses)


@pytest.mark.parametrize("form", ["bounded", "binary", "softmax"])
def test_classification_loss(form):
    classes = np.array([0, 2, 1, 1, 0])
    check_gradients(
        lambda logits: classification_loss(logits, torch.tensor(classes), form),
        lambda logits: reference_loss(logits, classes, form),
        [draw(5, 3)],
    )


def reference_logits(z, chosen, swapped, weights, target):
    """The discriminator in NumPy: concatenation and two layers; with the classes of the rows that count."""
    first, second, classes, counted = z[:, 0], z[:, 2], chosen, np.ones(len(z), dtype=bool)
    if target == "bool":
        classes = (chosen < 2).astype(int)
    if target == "order":
        counted, classes = chosen < 2, swapped
        first, second = (np.where(swapped[:, None], a, b) for a, b in ((second, first), (first, second)))
    pairs = np.concatenate([first, second], axis=1)
    hidden = np.tanh(pairs @ weights[0].T + weights[1])
    return (hidden @ weights[2].T + weights[3])[counted], classes[counted]


def reference_term(z, chosen, swapped, weights, target):
    logits, classes = reference_logits(z, chosen, swapped, weights, target)
    return reference_loss(logits, classes, "bounded").mean()


@pytest.mark.parametrize("alpha", [-1.0, 0.5])
@pytest.mark.parametrize("target", ["augmentation", "bool", "order"])
def test_the_term_and_both_of_its_gradients(make_addition, make_batch, target, alpha):
    values, chosen = draw(5, 3, 4), np.array([0, 1, 2, 0, 2])
    labels = np.stack([chosen, [0, 1, 1, 1, 0]], axis=1)
    addition = make_addition("discriminator", stages=STAGES, target=target, alpha=alpha, dropout=0.0)
    assert addition.classes == (3 if target == "augmentation" else 2)
    weights = [parameter.detach().numpy() for parameter in addition.parameters()]
    z = torch.tensor(values, requires_grad=True)
    term = addition.loss(make_batch(values, z, labels=torch.tensor(labels)))
    assert term.item() == pytest.approx(reference_term(values, *labels.T, weights, target), rel=1e-12)
    logits, classes = reference_logits(values, *labels.T, weights, target)
    assert addition.noted == {"accuracy": pytest.approx((logits.argmax(axis=1) == classes).mean())}
    term.backward()
    expected_gradient = numeric_gradient(
        lambda moved: reference_term(moved, *labels.T, weights, target), values
    )
    # The encoder's side gets the gradient times α, the discriminator's own layers get it as it is.
    np.testing.assert_allclose(z.grad, alpha * expected_gradient, atol=1e-9)
    assert np.abs(expected_gradient).max() > 1e-3
    for place, parameter in enumerate(addition.parameters()):

        def moved_layer(moved, place=place):
            changed = list(weights)
            changed[place] = moved
            return reference_term(values, *labels.T, changed, target)

        np.testing.assert_allclose(parameter.grad, numeric_gradient(moved_layer, weights[place]), atol=1e-9)


def normalised(x):
    return (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)


@pytest.mark.parametrize("alpha", [-2.0, 0.5])
def test_the_whole_loss_of_a_batch(tiny_encoder, make_batch, alpha):
    """Batch norm over all views, symmetric contrast, λ times the term, α on its gradient alone."""
    weight, rows = 0.3, 5
    table = {"stages": STAGES, "weight": weight, "alpha": alpha, "dropout": 0.0}
    values = {"loss": "symmetric", "head": "batch-norm", "temperature": 0.5, "pooling": "mean"}
    recipe = make_recipe(values | {"batch": rows, "discriminator": table})
    encoder = load_encoder(tiny_encoder)
    torch.manual_seed(3)
    model = Model(encoder.model, "mean", recipe).double().train()
    objective = ContrastiveObjective(recipe, encoder.tokenizer, join())
    values, labels = draw(rows, 3, 32), np.array([[0, 0], [1, 0], [2, 0], [1, 0], [0, 0]])
    texts = torch.arange(3 * rows).reshape(rows, 3)
    texts[4] = NO_TEXT  # padding, which no statistic may count
    embeddings = torch.tensor(values, requires_grad=True)
    batch = make_batch(
        embeddings, texts=texts, labels=torch.tensor(labels), head=model.apply_head, own=slice(0)
    )
    total, metrics, _ = objective.loss(model, batch)
    total.backward()
    first, last = (model.head[place].weight.detach().numpy() for place in (0, 3))
    layers = [parameter.detach().numpy() for parameter in model.additions["discriminator"].parameters()]

    def z_of(x):
        hidden = np.maximum(normalised(x[:4].reshape(12, 32) @ first.T), 0)
        return normalised(hidden @ last.T).reshape(4, 3, 32)

    def contrast_of(x):
        z = z_of(x)
        z /= np.linalg.norm(z, axis=2, keepdims=True)
        logits = z[:, 0] @ z[:, 1].T / 0.5
        both = [np.log(np.exp(side).sum(1)) - np.diag(side) for side in (logits, logits.T)]
        return float(np.mean(both))

    def term_of(x):
        return float(reference_term(z_of(x), *labels[:4].T, layers, "augmentation"))

    assert metrics["loss"] == pytest.approx(contrast_of(values), rel=1e-9)
    assert metrics["discriminator_loss"] == pytest.approx(term_of(values), rel=1e-9)
    assert total.item() == pytest.approx(contrast_of(values) + weight * term_of(values), rel=1e-9)
    expected = numeric_gradient(contrast_of, values) + weight * alpha * numeric_gradient(term_of, values)
    np.testing.assert_allclose(embeddings.grad, expected, atol=1e-7)


def test_every_epoch_reads_one_draw_unless_it_is_to_draw_anew(tiny_store, tiny_encoder):
    """`una` has two draws in the store."""
    tokenizer = load_encoder(tiny_encoder).tokenizer

    def draws(redraw=False, **values):
        recipe = make_recipe({"discriminator": {"stages": ["una", "pi"], "redraw": redraw}} | values)
        objective = ContrastiveObjective(recipe, tokenizer, join())
        _, stages = open_columns(tiny_store, objective, tokenizer, join(), {})
        return {name: len(actual) for name, actual in stages.items()}

    assert draws() == {"corpus": 1, "una": 1, "pi": 1}
    assert draws(redraw=True) == {"corpus": 1, "una": 2, "pi": 1}
    assert draws(negatives=("una",))["una"] == 2  # the negatives go on as ever


def test_the_stages_that_it_needs_are_advised():
    with pytest.raises(UsageError, match="needs stages") as refused:
        make_recipe({"discriminator": {}})
    (word,) = shlex.split(str(refused.value).partition("--set ")[2])  # what a shell makes of it
    assert load_recipe("simcse", [word]).additions["discriminator"]["stages"] == ("una", "uda")


TAU = 0.5


def a_head(dimension=16):
    torch.manual_seed(3)
    return make_head("relu", dimension).double()


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


def against(rows, positives, others, near):
    losses = []
    for i, around in enumerate(near):
        right = math.exp(cos(rows[i], positives[i]) / TAU)
        wrong = sum(math.exp(cos(rows[i], side[k]) / TAU) for k in around for side in others)
        losses.append(-math.log(right / (right + wrong)))
    return np.array(losses)


def reference_towards(clean, moved, near):
    return against(moved, clean, [clean], near)


def reference_both(clean, moved, near):
    sides = [clean, moved]
    return (against(clean, moved, sides, near) + against(moved, clean, sides, near)) / 2


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
    ascend(head, e, neighbours(e, torch.arange(8), 3), TAU, setting(steps=3))
    assert all((parameter.grad == 0.125).all() for parameter in head.parameters())
    assert e.grad is None


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
