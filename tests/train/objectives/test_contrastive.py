"""The contrastive loss of a batch: who meets whom."""

import math

import numpy as np
import pytest
import torch

from tests.helpers.slow_losses import TAU
from tests.helpers.training import check_gradients, cos, draw
from train.data.texts import NO_SENTENCE, NO_TEXT
from train.loading import make_recipe
from train.objectives.contrastive import contrast


@pytest.mark.parametrize("loss", ["info-nce", "symmetric", "nt-xent"])
def test_the_augmented_positive_of_an_equal_sentence_is_no_negative(loss):
    """Rows 0 and 2 hold one sentence, each with a positive of its own; all that is equal drops out."""
    z = draw(4, 2, 6)
    texts = torch.tensor([[1, 10], [2, 20], [1, 30], [3, 40]])
    actual = float(contrast(make_recipe({"loss": loss}), torch.from_numpy(z), texts, []))
    views = [(row, side) for row in range(4) for side in (0, 1)]
    every = []
    for row, side in views:
        wrong = {"info-nce": [1], "symmetric": [1 - side], "nt-xent": [0, 1]}[loss]
        if loss == "info-nce" and side:
            continue
        # Of the sentence's equal, 2 and 0, nothing is met but what is its own.
        met = [(r, s) for r, s in views if s in wrong and r != row and {r, row} != {0, 2}]
        right = math.exp(cos(z[row, side], z[row, 1 - side]) / TAU)
        every.append(-math.log(right / (right + sum(math.exp(cos(z[row, side], z[m]) / TAU) for m in met))))
    assert actual == pytest.approx(np.mean(every), rel=1e-10)
    everyone = make_recipe({"loss": loss, "mask_equal_texts": False})
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > actual


def test_negative_scope_own_meets_only_the_row_s_own_negatives():
    z = draw(4, 4, 6)  # anchor, positive, two negatives
    texts = torch.arange(16).view(4, 4)
    recipe = make_recipe({"negatives": ["una", "dn"], "negative_scope": "own"})
    actual = contrast(recipe, torch.from_numpy(z), texts, [])
    losses = []
    for i in range(4):
        met = [z[j, 1] for j in range(4)] + [z[i, 2], z[i, 3]]
        terms = [math.exp(cos(z[i, 0], other) / TAU) for other in met]
        losses.append(-math.log(terms[i] / sum(terms)))
    assert float(actual) == pytest.approx(np.mean(losses), rel=1e-10)
    everyone = make_recipe({"negatives": ["una", "dn"]})
    assert float(contrast(everyone, torch.from_numpy(z), texts, [])) > float(actual) + 1e-6


@pytest.mark.parametrize("loss", ["info-nce", "symmetric"])
def test_further_negatives_are_columns_of_every_anchor(loss):
    z, extra = draw(4, 2, 3), draw(6, 3, seed=1)
    texts = torch.arange(8).reshape(4, 2)
    ids = torch.tensor([100, 101, NO_TEXT, 0, NO_SENTENCE, NO_SENTENCE])  # 0 is the first anchor's own text
    recipe = make_recipe({"loss": loss, "temperature": 0.5})

    def reference(z):
        losses = []
        for i in range(4):
            columns = [(z[j, 1], True) for j in range(4)]
            columns += [(extra[k], int(ids[k]) not in (NO_TEXT, *texts[i].tolist())) for k in range(6)]
            terms = [math.exp(cos(z[i, 0], vector) / 0.5) for vector, used in columns if used]
            losses.append(-math.log(math.exp(cos(z[i, 0], z[i, 1]) / 0.5) / sum(terms)))
        if loss == "symmetric":
            for j in range(4):
                terms = [math.exp(cos(z[i, 0], z[j, 1]) / 0.5) for i in range(4)]
                losses.append(-math.log(terms[j] / sum(terms)))
        return sum(losses) / len(losses)

    further = [(torch.tensor(extra[part]), ids[part]) for part in (slice(3), slice(3, 6))]
    check_gradients(lambda value: contrast(recipe, value, texts, further), reference, [z])
