"""The contrastive loss of the global batch: who meets whom, by the recipe and its additions."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from augment_cli.errors import UsageError
from train import losses
from train.additions.base import mean_over
from train.data.texts import NO_SENTENCE, NO_TEXT
from train.objectives.masks import excluded_pairs
from train.recipe import Recipe


def contrast(
    recipe: Recipe,
    z: Tensor,
    texts: Tensor,
    negatives: list[tuple[Tensor, Tensor]],
    alike: Iterable[Tensor] = (),
    bonuses: Iterable[Tensor] = (),
) -> Tensor:
    """Mean of the recipe's contrastive loss over the rows of the global batch, padding left out.

    Parameters
    ----------
    recipe : Recipe
        Says which loss, and who meets whom.
    z : Tensor
        After the head, shape (B, views, h).
    texts : Tensor
        Text ids, shape (B, views).
    negatives : list of tuple of (Tensor, Tensor)
        Further negatives of every anchor and their text ids, shapes (n, h) and (n,) each; only for losses
        that have room for them.
    alike : iterable of Tensor, optional
        Which anchors and positives of different rows are no negatives of each other, shape (2B, 2B) each,
        bool: the anchors first, then the positives.
    bonuses : iterable of Tensor, optional
        Added to the logits of a row's own hard negatives, shape (B, views - 2) each.

    Returns
    -------
    Tensor
        A scalar, nats.
    """
    loss = losses.find(recipe.loss)
    function = loss.with_settings(recipe.loss_settings)
    if loss.layout == "pool":
        # (B, views, h) to pairs of views: all anchors, then all negatives of the first stage, …
        first, second = (z[:, side::2].transpose(0, 1).flatten(0, 1) for side in (0, 1))
        ids = torch.cat([texts[:, side::2].T.reshape(-1) for side in (0, 1)])
        partner = torch.arange(len(ids), device=ids.device).roll(len(first))
        excluded = excluded_pairs(ids, ids[partner], ids, partner, recipe.mask_equal_texts, ids[partner])
        own_views = torch.arange(len(texts), device=ids.device)
        own_views = torch.cat([own_views, own_views + len(first)])
        for mask in alike:
            excluded[own_views[:, None], own_views] |= mask
        return mean_over(function(first, second, excluded, recipe.temperature), ids != NO_TEXT)
    rows, columns = texts[:, 0], torch.cat([texts[:, 1:].T.reshape(-1), *(ids for _, ids in negatives)])
    own = torch.arange(len(rows), device=rows.device)
    beside = torch.cat([rows, columns.new_full((len(columns) - len(rows),), NO_SENTENCE)])
    excluded = excluded_pairs(rows, texts[:, 1], columns, own, recipe.mask_equal_texts, beside)
    for mask in alike:
        excluded[:, : len(rows)] |= mask[: len(rows), len(rows) :]
    if recipe.negative_scope == "own":
        for column in range(1, texts.shape[1] - 1):
            others = excluded[:, column * len(rows) : (column + 1) * len(rows)]
            others |= ~torch.eye(len(rows), dtype=torch.bool, device=others.device)
    bonus = None
    own_bonus = sum(bonuses, z.new_full((len(rows), texts.shape[1] - 2), recipe.hard_negative_weight))
    if own_bonus.count_nonzero():
        bonus = z.new_zeros(excluded.shape)
        for column in range(1, texts.shape[1] - 1):
            bonus[own, own + column * len(rows)] = own_bonus[:, column - 1]
    # Not by indexing, whose way back fills a tensor of zeros for each part and adds them up.
    anchors, *further = z.unbind(1)
    further += [vectors for vectors, _ in negatives]
    candidates = torch.cat(further) if len(further) > 1 else further[0]
    return mean_over(function(anchors, candidates, excluded, recipe.temperature, bonus), rows != NO_TEXT)


def shorter(
    recipe: Recipe, z: Tensor, negatives: list[tuple[Tensor, Tensor]]
) -> dict[int, tuple[Tensor, list[tuple[Tensor, Tensor]]]]:
    """The batch and the further negatives cut to each of the recipe's `dimensions` (Matryoshka).

    Parameters
    ----------
    recipe : Recipe
        Its `dimensions`, m each.
    z : Tensor
        Shape (B, views, h).
    negatives : list of tuple of (Tensor, Tensor)
        As in `contrast`.

    Returns
    -------
    dict of int to tuple
        By m the first m numbers of each vector, in the place of `z` and in that of `negatives`.

    Raises
    ------
    UsageError
        If the vectors are not longer than that.

    Notes
    -----
    Source: Kusupati et al. 2022 (Matryoshka representation learning), equation 1: the loss is the sum over m
    of c_m times the loss of the first m numbers, the full length being one of them; c_m = 1, as theirs.
    """
    if too_long := [str(m) for m in recipe.dimensions if m >= z.shape[-1]]:
        raise UsageError(
            f"dimensions = {', '.join(too_long)}: the encoder's vectors have {z.shape[-1]} numbers; "
            "name smaller ones"
        )
    return {m: (z[..., :m], [(vectors[:, :m], ids) for vectors, ids in negatives]) for m in recipe.dimensions}
