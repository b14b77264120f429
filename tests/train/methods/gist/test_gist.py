"""A guide's mask against slow references, cached vectors, and runs that read them."""

import numpy as np
import pytest
import torch

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.store.store import Store
from tests.helpers.training import (
    check_gradients,
    cos,
    draw,
    logged_run,
    reference_info_nce,
    reference_nt_xent,
    reference_symmetric,
)
from tests.helpers.vector_stages import add_vectors
from train.loading import make_recipe
from train.machine.distributed import join
from train.methods.adapt.base_teacher import CachedVectors
from train.methods.gist.guide_addition import too_alike
from train.objectives.contrastive import contrast
from train.prepare import Run, plan

MARGIN = 0.05


def masked(guide, margin=MARGIN):
    """Which anchors and positives, the anchors first, do not meet, by the definition; (2B, 2B), bool."""
    views = [(row, side) for side in (0, 1) for row in range(len(guide))]
    own = [cos(*pair) - margin for pair in guide]
    return np.array([[u[0] != v[0] and cos(guide[u], guide[v]) > own[u[0]] for v in views] for u in views])


def reference(z, guide, loss, tau):
    """The loss of rows of an anchor, a positive and negatives, in loops; shape of z: (B, views, h)."""
    rows, size = len(z), z.shape[2]
    if loss == "nt-xent":
        first, second = (z[:, side::2].transpose(1, 0, 2).reshape(-1, size) for side in (0, 1))
        own = np.concatenate([np.arange(rows), len(first) + np.arange(rows)])
        excluded = np.zeros((2 * len(first), 2 * len(first)), bool)
        excluded[np.ix_(own, own)] = masked(guide)
        return reference_nt_xent(first, second, excluded, tau).mean()
    candidates = z[:, 1:].transpose(1, 0, 2).reshape(-1, size)
    excluded = np.zeros((rows, len(candidates)), bool)
    excluded[:, :rows] = masked(guide)[:rows, rows:]
    slow = reference_symmetric if loss == "symmetric" else reference_info_nce
    return slow(z[:, 0], candidates, excluded, tau, np.zeros(excluded.shape)).mean()


def guide_of(rows, seed=5):
    """Vectors of anchors and positives, shape (rows, 2, 3), of length 1: some pairs are alike, some not."""
    anchors = draw(rows, 3, seed=seed)
    guide = np.stack([anchors, anchors + 0.7 * draw(rows, 3, seed=seed + 1)], axis=1)
    return guide / np.linalg.norm(guide, axis=-1, keepdims=True)


def mask_of(guide, margin=MARGIN, real=None):
    real = torch.ones(len(guide), dtype=torch.bool) if real is None else real
    return too_alike(torch.from_numpy(guide[:, 0]), torch.from_numpy(guide[:, 1]), real, margin)


def test_the_mask_is_that_of_the_definition():
    guide = guide_of(9)
    mask = mask_of(guide)
    np.testing.assert_array_equal(mask, masked(guide))
    assert 10 < mask.sum() < 150
    assert mask_of(guide, 0.5).sum() > mask.sum() > mask_of(guide, 0.0).sum()
    real = torch.arange(9) < 7
    padded = mask_of(guide, real=real)
    assert torch.equal(padded, mask & real.repeat(2)[:, None] & real.repeat(2))


@pytest.mark.parametrize(
    ("loss", "views"), [("info-nce", 2), ("info-nce", 4), ("symmetric", 2), ("nt-xent", 2), ("nt-xent", 4)]
)
def test_value_and_gradient_of_the_masked_loss(loss, views):
    z, guide = draw(6, views, 4), guide_of(6)
    texts = torch.arange(6 * views).reshape(6, views)
    recipe = make_recipe({"loss": loss, "temperature": 0.5})
    (actual,) = check_gradients(
        lambda value: contrast(recipe, value, texts, [], [mask_of(guide)]),
        lambda moved: reference(moved, guide, loss, 0.5),
        [z],
    )
    assert actual < contrast(recipe, torch.tensor(z), texts, []) - 1e-6


def test_vectors_are_those_of_the_row_and_of_the_draw_of_the_epoch(store_copy):
    corpus, first, second = (draw(150, 4, seed=seed).astype(np.float16) for seed in (1, 2, 3))
    for of, vectors in [("corpus", corpus), ("una", first), ("una.1", second)]:
        add_vectors(store_copy, of, vectors)
    guide = CachedVectors(Store.open(store_copy), ("self", "una"), "", 1)
    assert guide.stages == ("vectors", "vectors-una", "vectors-una.1")
    for row in (0, 39, 40, 149, 3):
        for positive, epoch, vectors in [(-1, 0, corpus), (1, 0, first), (1, 1, second), (1, 2, first)]:
            for actual, expected in zip(guide.pair(row, positive, epoch), (corpus, vectors), strict=True):
                wide = expected[row].astype(np.float64)
                np.testing.assert_allclose(actual, wide / np.linalg.norm(wide), rtol=1e-12)


def test_a_run_masks_by_the_cached_vectors_and_remembers_them(store_copy, tiny_encoder, tmp_path):
    same = np.ones((150, 4))  # a guide that finds everything alike: no negative is left, and nothing to learn
    add_vectors(store_copy, "corpus", same, "blind")
    settings = {"steps": 2, "guide": {"vectors": "blind", "margin": 0.5}}
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "blind", settings)
    assert [event["loss"] for event in events if "loss" in event] == [0.0, 0.0]
    assert set(result.facts["data"]) == {"corpus", "vectors-blind"}


def test_a_guide_without_vectors_is_an_error_before_the_first_step(store_copy, tiny_encoder, tmp_path):
    recipe = make_recipe({"guide": {}, "positives": ["una"], "labels": "kind"})
    run = Run(recipe, store_copy, str(tiny_encoder), tmp_path / "run")
    with pytest.raises(UsageError, match="has no vectors of 'corpus'"):
        plan(run, join())
    add_vectors(store_copy, "corpus", draw(150, 4))
    with pytest.raises(UsageError, match="has no vectors of 'una'"):
        plan(run, join())
    add_vectors(store_copy, "una", draw(150, 4), model="other")
    add_vectors(store_copy, "una.1", draw(150, 4))
    with pytest.raises(MixError, match="they differ in model"):
        plan(run, join())


def test_a_row_without_a_vector_is_named(store_copy):
    vectors = draw(150, 4)
    vectors[60:] = np.nan  # as `embed --rows 60` leaves them
    add_vectors(store_copy, "corpus", vectors)
    guide = CachedVectors(Store.open(store_copy), ("self",), "", 4)
    guide.pair(59, -1, 0)
    with pytest.raises(BadInputError, match="no vector of row 60; remove the stage and embed all rows"):
        guide.pair(60, -1, 0)
