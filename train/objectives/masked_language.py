"""Masked language modelling: which tokens are hidden, and the objective of it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from train.data.order import rank_slice
from train.data.padding import Slice, length_sorted_slices, with_special
from train.data.reader import Batch
from train.data.texts import CORPUS, Ids
from train.data.tokens import special_ids
from train.draws import seed_torch
from train.machine.distributed import Ranks
from train.model.model import Model
from train.recipe import Recipe

_KEY = 0x6D6C6D  # keeps these draws apart from the others of the same step


@dataclass(frozen=True)
class MaskedSlice:
    """A slice with hidden tokens."""

    inputs: Slice  # the slice the encoder sees
    hidden: Tensor  # where tokens were hidden, as indices into the flattened (n · length) positions, (m,)
    targets: Tensor  # the original ids there, shape (m,)


@dataclass(frozen=True)
class Masking:
    """Which tokens are hidden, as a pure function of (seed, step, row)."""

    rate: float
    seed: int
    max_length: int
    mask: int
    pad: int
    ordinary: np.ndarray
    before: list[int]
    after: list[int]

    def hide(
        self, texts: Sequence[Ids], step: int, rows: slice, batch: int, slices: int
    ) -> list[MaskedSlice]:
        """Hide tokens of this rank's texts."""
        # The draws of a step cover the whole global batch and a rank uses its own rows of them, so that the
        # choice does not depend on the number of ranks.
        generator = np.random.default_rng([self.seed, step, _KEY])
        shape = (batch, self.max_length)
        chosen = (generator.random(shape) < self.rate)[rows]
        kind = generator.random(shape)[rows]
        random = self.ordinary[generator.integers(len(self.ordinary), size=shape)][rows]
        inputs, targets = [], []
        originals = with_special(texts, self.before, self.after, self.max_length)
        for row, original in enumerate(originals):
            assert original is not None
            first, last = len(self.before), len(original) - len(self.after)
            hidden = np.zeros(len(original), dtype=bool)
            hidden[first:last] = chosen[row, first:last]
            n = len(original)
            seen = np.where(
                kind[row, :n] < 0.8, self.mask, np.where(kind[row, :n] < 0.9, random[row, :n], original)
            )
            inputs.append(np.where(hidden, seen, original))
            targets.append(np.where(hidden, original, -1))
        result = []
        for item in length_sorted_slices(inputs, slices, self.pad):
            padded = np.full(item.ids.shape, -1, dtype=np.int64)
            for row, place in enumerate(item.places.tolist()):
                padded[row, : len(targets[place])] = targets[place]
            flat = padded.reshape(-1)
            where = np.flatnonzero(flat >= 0)
            result.append(MaskedSlice(item, torch.from_numpy(where), torch.from_numpy(flat[where])))
        return result


def make_masking(recipe: Recipe, tokenizer: Any) -> Masking:
    """The masking of a recipe's rate and seed and a tokenizer's special tokens."""
    before, after = special_ids(tokenizer)
    ordinary = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
    return Masking(
        recipe.masking.rate, recipe.seed, recipe.max_length, tokenizer.mask_token_id, tokenizer.pad_token_id,
        ordinary, before, after,
    )  # fmt: skip


class MaskedObjective:
    """Mean negative log-likelihood (nats) of the hidden tokens of the global batch."""

    columns = (CORPUS,)
    once: tuple[str, ...] = ()  # columns of which every epoch reads the first draw
    finish = None  # the reader leaves texts whole: they are cut where tokens are hidden
    views_a_row = 1

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks) -> None:
        self.recipe, self.ranks = recipe, ranks
        self.masking = make_masking(recipe, tokenizer)
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)

    def prepare(self, batch: Batch, step: int) -> list[MaskedSlice]:
        """Hide tokens and pad; runs in the read-ahead thread."""
        texts = batch.columns[CORPUS].or_empty()
        return self.masking.hide(texts, step, self.rows, self.recipe.batch, self.recipe.reading.slices)

    def backward(self, model: Model, prepared: list[MaskedSlice], step: int) -> dict[str, float]:
        """Add this rank's share of the gradient of the global mean."""
        total, metrics = masked_loss(model, prepared, step, self.recipe, self.ranks)
        total.backward()
        return metrics


def masked_loss(
    model: Model, prepared: list[MaskedSlice], step: int, recipe: Recipe, ranks: Ranks
) -> tuple[Tensor, dict[str, float]]:
    """Mean negative log-likelihood of the hidden tokens of the global batch."""
    assert model.masked_head is not None
    own = sum(item.hidden.numel() for item in prepared)
    count = ranks.sum(torch.tensor(float(own), device=ranks.device)).clamp(min=1)
    with autocast(recipe, ranks):
        losses = []
        for number, group in enumerate([prepared] if model.packs else [[item] for item in prepared]):
            seed_torch(recipe.seed, "mlm", step, ranks.rank, number)
            states = model.hidden_states([item.inputs for item in group])
            losses += [
                model.masked_head(state, item.hidden, item.targets)
                for state, item in zip(states, group, strict=True)
            ]
        total = torch.stack(losses).sum() / count
    return total, {"mlm_loss": float(ranks.sum(total.detach().clone()))}


def autocast(recipe: Recipe, ranks: Ranks) -> torch.autocast:
    """bf16 autocast where the recipe asks for it."""
    return torch.autocast(ranks.device.type, torch.bfloat16, enabled=recipe.precision == "bf16")
