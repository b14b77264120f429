"""The contrastive objective: which texts a step encodes, and the loss on the gathered global batch.

A row's texts are its *views*: anchor, positive, then for each negative stage one view (hard-negative columns)
or two (the NT-Xent pool, where a negative has a positive of its own, itself under other dropout).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from train.distributed import Ranks
from train.losses.masks import NO_TEXT, no_negatives
from train.losses.nt_xent import nt_xent
from train.losses.one_way import one_way
from train.losses.symmetric import symmetric
from train.masked_objective import CORPUS, autocast, make_masking, masked_loss
from train.mlm import MaskedSlice
from train.model import Model, draw_key
from train.order import MASKED, rank_slice
from train.padding import Slice, length_sorted_slices, with_special
from train.reader import Batch
from train.recipe import Recipe
from train.tokens import special_ids

SELF = "self"
_KEY = 0x706F73  # keeps these draws apart from the others of the same step


@dataclass(frozen=True)
class Prepared:
    """A rank's texts of one step.

    Attributes
    ----------
    slices
        The texts there are, padded; `places` index the flattened (rows · views) grid.
    texts
        Text ids of the grid, shape (rows, views), int64; `NO_TEXT` where there is none.
    masked
        The anchors with hidden tokens, for the auxiliary loss; empty without it.
    """

    slices: list[Slice]
    texts: Tensor
    masked: list[MaskedSlice]

    def to(self, device: torch.device) -> Prepared:
        """The same on another device."""
        return Prepared(
            [item.to(device) for item in self.slices],
            self.texts.to(device),
            [item.to(device) for item in self.masked],
        )


class ContrastiveObjective:
    """Contrast each row's anchor and positive with the rest of the global batch, as the recipe says."""

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks) -> None:
        self.recipe, self.ranks = recipe, ranks
        self.before, self.after = special_ids(tokenizer)
        self.pad = tokenizer.pad_token_id
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)
        self.masking = make_masking(recipe, tokenizer) if recipe.mlm_weight else None
        stages = [CORPUS, *recipe.positives, *recipe.negatives]
        self.columns = tuple(dict.fromkeys(stage for stage in stages if stage != SELF))

    # --- before the step, in the read-ahead thread

    def prepare(self, batch: Batch, step: int) -> Prepared:
        """Choose the views of each row, cut, pad and number their texts."""
        grid = self._views(batch, step)
        cut = [[None if ids is None else self._cut(ids) for ids in row] for row in grid]
        views = self._view_count(step)
        flat = [
            (place, ids) for place, ids in enumerate(ids for row in cut for ids in row) if ids is not None
        ]
        slices = []
        for item in (
            length_sorted_slices([ids for _, ids in flat], self.recipe.slices, self.pad) if flat else []
        ):
            places = torch.tensor([flat[index][0] for index in item.places.tolist()])
            slices.append(Slice(places, item.ids, item.mask))
        texts = torch.tensor([[_text_id(ids) for ids in row] for row in cut], dtype=torch.int64)
        masked = []
        if self.masking is not None:
            anchors = [np.zeros(0, dtype=np.int64) if row[0] is None else row[0] for row in grid]
            masked = self.masking.hide(anchors, step, self.rows, self.recipe.batch, self.recipe.slices)
        return Prepared(slices, texts.reshape(len(grid), views), masked)

    def uses_negatives(self, step: int) -> bool:
        """Whether this is one of the recipe's negative steps (UNA: every alpha-th, from step 0)."""
        return bool(self.recipe.negatives) and step % self.recipe.alpha == 0

    def _view_count(self, step: int) -> int:
        each = 2 if self.recipe.negative_layout == "pool" else 1
        return 2 + each * len(self.recipe.negatives) * self.uses_negatives(step)

    def _views(self, batch: Batch, step: int) -> list[list[np.ndarray | None]]:
        recipe = self.recipe
        # Drawn for the whole global batch, so that the number of ranks does not matter.
        generator = np.random.default_rng([recipe.seed, step, _KEY])
        choice = generator.integers(len(recipe.positives), size=recipe.batch)[self.rows]
        augmented = (generator.random(recipe.batch) < recipe.proportion)[self.rows]
        grid: list[list[np.ndarray | None]] = []
        for row, row_id in enumerate(batch.row_ids):
            anchor = batch.columns[CORPUS][row]
            name = recipe.positives[choice[row]] if augmented[row] else SELF
            positive = None if name == SELF else batch.columns[name][row]
            views = [anchor, anchor if positive is None else positive]
            if self.uses_negatives(step):
                for stage in recipe.negatives:
                    views += [batch.columns[stage][row]] * (2 if recipe.negative_layout == "pool" else 1)
            grid.append(views if row_id != MASKED else [None] * len(views))
        return grid

    def _cut(self, ids: np.ndarray) -> np.ndarray:
        return with_special(ids, self.before, self.after, self.recipe.max_length)

    # --- the step

    def backward(self, model: Model, prepared: Prepared, step: int) -> dict[str, float]:
        """Compute the loss of the global batch and add this rank's share of its gradient."""
        rows, views = prepared.texts.shape
        cached = 0 < self.recipe.chunk < sum(len(item.places) for item in prepared.slices)
        chunks = [part for item in prepared.slices for part in _split(item, self.recipe.chunk)]
        with torch.set_grad_enabled(not cached), autocast(self.recipe, self.ranks):
            own = self._embed(model, enumerate(chunks), step, rows * views).reshape(rows, views, -1)
        sizes = [len(range(self.recipe.batch)[rank_slice(self.recipe.batch, r, self.ranks.ranks)]) for r in
                 range(self.ranks.ranks)]  # fmt: skip
        everyone = self.ranks.gather(own.detach(), sizes).requires_grad_()
        texts = self.ranks.gather(prepared.texts, sizes)
        loss = self.loss(model, everyone, texts)
        loss.backward()
        assert everyone.grad is not None
        gradient = everyone.grad[self.rows].reshape(rows * views, -1)
        if cached:
            # Gradient caching (Gao et al. 2021): encode again chunk by chunk, with the same dropout.
            for number, chunk in enumerate(chunks):
                with autocast(self.recipe, self.ranks):
                    again = self._embed(model, [(number, chunk)], step, rows * views)
                again.backward(gradient)
        elif own.requires_grad:
            own.reshape(rows * views, -1).backward(gradient)
        metrics = {"loss": float(loss.detach())}
        if prepared.masked:
            total, more = masked_loss(model, prepared.masked, step, self.recipe, self.ranks)
            (self.recipe.mlm_weight * total).backward()
            metrics |= more
        return metrics

    def _embed(self, model: Model, chunks: Iterable[tuple[int, Slice]], step: int, places: int) -> Tensor:
        """Embeddings of the given chunks in their places, zeros elsewhere, shape (places, d)."""
        found, where = [], []
        for number, chunk in chunks:
            torch.manual_seed(draw_key(self.recipe.seed, "dropout", step, self.ranks.rank, number))
            found.append(model.embed(chunk))
            where.append(chunk.places)
        if not found:
            return torch.zeros(places, model.dimension, device=self.ranks.device, dtype=model.dtype)
        embeddings = torch.cat(found)
        return embeddings.new_zeros(places, embeddings.shape[1]).index_copy(0, torch.cat(where), embeddings)

    def loss(self, model: Model, embeddings: Tensor, texts: Tensor) -> Tensor:
        """Mean loss of the global batch.

        Parameters
        ----------
        embeddings
            Before the head, shape (B, views, d); zeros where there is no text.
        texts
            Text ids, shape (B, views).
        """
        recipe = self.recipe
        there = texts.reshape(-1) != NO_TEXT
        flat = embeddings.reshape(-1, embeddings.shape[-1])
        headed = model.head(flat[there]) if model.head is not None else flat[there]
        z = (
            headed.new_zeros(len(flat), headed.shape[-1])
            .index_put((there,), headed)
            .reshape(*texts.shape, -1)
        )
        if recipe.loss == "nt-xent":
            # (B, views, d) to pairs of views: all anchors, then all negatives of the first stage, …
            first, second = (z[:, side::2].transpose(0, 1).flatten(0, 1) for side in (0, 1))
            ids = torch.cat([texts[:, side::2].T.reshape(-1) for side in (0, 1)])
            partner = torch.arange(len(ids), device=ids.device).roll(len(first))
            excluded = no_negatives(ids, ids[partner], ids, partner, recipe.mask_equal_texts)
            losses, weights = nt_xent(first, second, excluded, recipe.temperature), ids != NO_TEXT
        else:
            rows, columns = texts[:, 0], texts[:, 1:].T.reshape(-1)
            own = torch.arange(len(rows), device=rows.device)
            excluded = no_negatives(rows, texts[:, 1], columns, own, recipe.mask_equal_texts)
            bonus = None
            if recipe.hard_negative_weight and texts.shape[1] > 2:
                bonus = z.new_zeros(excluded.shape)
                for column in range(1, texts.shape[1] - 1):
                    bonus[own, own + column * len(rows)] = recipe.hard_negative_weight
            candidates = z[:, 1:].transpose(0, 1).flatten(0, 1)
            function = symmetric if recipe.loss == "symmetric" else one_way
            losses = function(z[:, 0], candidates, excluded, recipe.temperature, bonus)
            weights = rows != NO_TEXT
        return torch.where(weights, losses, 0.0).sum() / weights.sum().clamp(min=1)


def _split(item: Slice, chunk: int) -> list[Slice]:
    """A slice in pieces of at most `chunk` texts; 0 leaves it whole."""
    if not chunk:
        return [item]
    pieces = zip(item.places.split(chunk), item.ids.split(chunk), item.mask.split(chunk), strict=True)
    return [Slice(*piece) for piece in pieces]


def _text_id(ids: np.ndarray | None) -> int:
    """A number for a text as the encoder sees it: equal ids for equal texts, 63 bits, never `NO_TEXT`."""
    if ids is None:
        return NO_TEXT
    return int.from_bytes(hashlib.blake2b(ids.tobytes(), digest_size=8).digest(), "little") >> 1
