"""Masked language modelling: which tokens are hidden, the head that names them, and the loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from train.data import CORPUS, Ids
from train.data.order import rank_slice, seed_torch
from train.data.padding import Slice, length_sorted_slices, with_special
from train.data.reader import Batch
from train.data.tokens import special_ids
from train.machine.distributed import Ranks
from train.model import Model
from train.objectives.contrastive import autocast, make_scaler, slices_of
from train.recipe import Recipe

_KEY = 0x6D6C6D  # keeps these draws apart from the others of the same step


@dataclass(frozen=True)
class MaskedSlice:
    """A slice with hidden tokens."""

    inputs: Slice  # the slice the encoder sees
    hidden: Tensor  # where tokens were hidden, as indices into the flattened (n · length) positions, (m,)
    targets: Tensor  # the original ids there, shape (m,)


class Masking:
    """Which tokens are hidden, as a pure function of (seed, step, row)."""

    def __init__(self, recipe: Recipe, tokenizer: Any) -> None:
        self.rate, self.seed, self.max_length = recipe.masking.rate, recipe.seed, recipe.max_length
        self.mask, self.pad = tokenizer.mask_token_id, tokenizer.pad_token_id
        self.ordinary = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
        self.before, self.after = special_ids(tokenizer)

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
            n = len(original)
            inner = slice(len(self.before), n - len(self.after))
            hidden = np.zeros(n, dtype=bool)
            hidden[inner] = chosen[row, inner]
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


class MaskedHead(nn.Module):
    """BERT's head: linear, GELU, layer norm, then the word embeddings as decoder."""

    # The decoder shares the encoder's word embeddings; only hidden positions are decoded, which saves six
    # sevenths of the largest product of a small encoder.

    def __init__(self, hidden_size: int, vocabulary: int, word_embeddings: nn.Embedding) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)
        self._words = [word_embeddings]  # in a list, or the shared weight would be saved twice

    def forward(self, hidden_states: Tensor, hidden: Tensor, targets: Tensor) -> Tensor:
        """Sum of the negative log-likelihoods (nats) of the hidden tokens, a scalar."""
        # hidden_states: last layer, (n, length, d). hidden: where tokens were hidden, as indices into the
        # flattened (n · length) positions, (m,); targets: the original ids there, (m,).
        picked = hidden_states.reshape(-1, hidden_states.shape[-1])[hidden]
        decoded = F.linear(self.norm(F.gelu(self.dense(picked))), self._words[0].weight, self.bias)
        wide = decoded if decoded.dtype == torch.float64 else decoded.float()
        return F.cross_entropy(wide, targets, reduction="sum")


class MaskedObjective:
    """Mean negative log-likelihood (nats) of the hidden tokens of the global batch."""

    columns = (CORPUS,)
    once: tuple[str, ...] = ()  # columns of which every epoch reads the first draw
    finish = None  # the reader leaves texts whole: they are cut where tokens are hidden
    views_a_row = 1

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks) -> None:
        self.recipe, self.ranks = recipe, ranks
        self.masking = Masking(recipe, tokenizer)
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)
        self.slices, self.scaler = slices_of(recipe, ranks), make_scaler(recipe, ranks)

    def prepare(self, batch: Batch, step: int) -> list[MaskedSlice]:
        """Hide tokens and pad; runs in the read-ahead thread."""
        texts = batch.columns[CORPUS].or_empty()
        return self.masking.hide(texts, step, self.rows, self.recipe.batch, self.slices)

    def backward(self, model: Model, prepared: list[MaskedSlice], step: int) -> dict[str, float]:
        """Add this rank's share of the gradient of the global mean."""
        weight = self.recipe.masking.weight if self.recipe.objective != "mlm" else 1.0
        head, recipe, ranks = model.masked_head, self.recipe, self.ranks
        assert isinstance(head, MaskedHead)
        own = sum(item.hidden.numel() for item in prepared)
        count = ranks.sum(torch.tensor(float(own), device=ranks.device)).clamp(min=1)
        with autocast(recipe, ranks):
            losses = []
            for number, group in enumerate([prepared] if model.packs else [[item] for item in prepared]):
                seed_torch(recipe.seed, "mlm", step, ranks.rank, number)
                states = model.hidden_states([item.inputs for item in group])
                losses += [
                    head(state, item.hidden, item.targets) for state, item in zip(states, group, strict=True)
                ]
            total = torch.stack(losses).sum() / count
        self.scaler.scale(weight * total).backward()
        return {"mlm_loss": float(ranks.sum(total.detach().clone()))}
