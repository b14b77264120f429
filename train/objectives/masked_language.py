"""The objective of masked language modelling alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from train.data.order import rank_slice
from train.data.reader import Batch
from train.data.texts import CORPUS
from train.data.tokens import special_ids
from train.draws import seed_torch
from train.machine.distributed import Ranks
from train.model.model import Model
from train.objectives.masking import MaskedSlice, Masking
from train.recipe import Recipe


def make_masking(recipe: Recipe, tokenizer: Any) -> Masking:
    """The masking of a recipe's rate and seed and a tokenizer's special tokens.

    Parameters
    ----------
    recipe : Recipe
        All settings.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's; it has a mask token.
    """
    before, after = special_ids(tokenizer)
    ordinary = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
    return Masking(
        recipe.mask_rate, recipe.seed, recipe.max_length, tokenizer.mask_token_id, tokenizer.pad_token_id,
        ordinary, before, after,
    )  # fmt: skip


class MaskedBatch(list[MaskedSlice]):
    """A rank's texts of one step, with hidden tokens."""

    def to(self, device: torch.device) -> MaskedBatch:
        """The same on another device."""
        return MaskedBatch(item.to(device) for item in self)


class MaskedObjective:
    """Mean negative log-likelihood (nats) of the hidden tokens of the global batch.

    Parameters
    ----------
    recipe : Recipe
        All settings.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's.
    ranks : Ranks
        This process among all.

    Attributes
    ----------
    columns : tuple of str
        Stages to read: the corpus.
    once : tuple of str
        Those of them of which every epoch reads the first draw: none.
    finish : None
        The reader leaves texts whole: they are cut where tokens are hidden.
    """

    columns = (CORPUS,)
    once: tuple[str, ...] = ()
    finish = None

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks) -> None:
        self.recipe, self.ranks = recipe, ranks
        self.masking = make_masking(recipe, tokenizer)
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)

    def prepare(self, batch: Batch, step: int) -> MaskedBatch:
        """Hide tokens and pad; runs in the read-ahead thread.

        Parameters
        ----------
        batch : Batch
            This rank's rows of the step.
        step : int
            Number of the step in the run, from 0.
        """
        texts = batch.columns[CORPUS].or_empty()
        return MaskedBatch(self.masking.hide(texts, step, self.rows, self.recipe.batch, self.recipe.slices))

    def backward(self, model: Model, prepared: MaskedBatch, step: int) -> dict[str, float]:
        """Add this rank's share of the gradient of the global mean.

        Parameters
        ----------
        model : Model
            Its parameters' gradients are added to.
        prepared : MaskedBatch
            This rank's texts, on the model's device.
        step : int
            Number of the step in the run, from 0.

        Returns
        -------
        dict of str to float
            The loss of the global batch, for the log.
        """
        total, metrics = masked_loss(model, prepared, step, self.recipe, self.ranks)
        total.backward()
        return metrics


def masked_loss(
    model: Model, prepared: list[MaskedSlice], step: int, recipe: Recipe, ranks: Ranks
) -> tuple[torch.Tensor, dict[str, float]]:
    """Mean negative log-likelihood of the hidden tokens of the global batch.

    Parameters
    ----------
    model : Model
        With a masked head.
    prepared : list of MaskedSlice
        This rank's texts, on the model's device.
    step : int
        Number of the step in the run, from 0.
    recipe : Recipe
        Seed and precision.
    ranks : Ranks
        This process among all.

    Returns
    -------
    Tensor
        This rank's share of the mean, a scalar, nats.
    dict of str to float
        The whole of it, over all ranks.
    """
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
