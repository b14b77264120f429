"""The contrastive objective: the views of the gathered global batch, their loss, and its gradient."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from train.additions.base import Addition, GlobalBatch
from train.data.order import rank_slice
from train.data.padding import Bag, Piece, Slice, in_a_bag, length_sorted_slices
from train.data.reader import Batch
from train.data.texts import CORPUS, NO_TEXT, text_ids
from train.draws import seed_torch
from train.machine.distributed import Ranks
from train.model.model import Model
from train.objectives.contrast import contrast, shorter
from train.objectives.masked_language import autocast, make_masking, masked_loss
from train.objectives.masking import MaskedSlice
from train.objectives.views import ViewChooser
from train.recipe import Recipe


@dataclass(frozen=True)
class ViewBatch:
    """A rank's texts of one step.

    Attributes
    ----------
    slices : list of Slice or Bag
        The texts, padded, or in one bag for a table; `places` index the flattened (rows · views) grid.
    texts : Tensor
        Text ids of the grid, shape (rows, views), int64; `NO_TEXT` where there is none.
    labels : Tensor
        The additions' labels, shape (rows, labels), int64.
    masked : list of MaskedSlice
        The anchors with hidden tokens, for the auxiliary loss; empty without it.
    """

    slices: Sequence[Piece]
    texts: Tensor
    labels: Tensor
    masked: list[MaskedSlice]

    def to(self, device: torch.device) -> ViewBatch:
        """The same on another device."""
        return ViewBatch(
            [item.to(device) for item in self.slices], self.texts.to(device), self.labels.to(device),
            [item.to(device) for item in self.masked],
        )  # fmt: skip


class ContrastiveObjective:
    """Contrast each row's anchor and positive with the rest of the global batch, as the recipe says.

    Parameters
    ----------
    recipe : Recipe
        All settings.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's.
    ranks : Ranks
        This process among all.
    bags : bool, optional
        Whether the encoder is a table, for which nothing is padded.

    Attributes
    ----------
    columns : tuple of str
        Stages to read.
    once : tuple of str
        Those of them of which every epoch reads the first draw.
    finish : callable or None
        What the reader does to all texts of a row group.
    """

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks, bags: bool = False) -> None:
        self.recipe, self.ranks, self.bags = recipe, ranks, bags
        self.pad = tokenizer.pad_token_id or 0
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)
        self.views = ViewChooser(recipe, tokenizer, self.rows)
        self.columns, self.once = self.views.columns, self.views.once
        self.finish = self.views.finish if bags else None
        self.masking = make_masking(recipe, tokenizer) if recipe.mlm_weight else None
        slices = (rank_slice(recipe.batch, rank, ranks.ranks) for rank in range(ranks.ranks))
        self.sizes = [item.stop - item.start for item in slices]

    # --- before the step; in the read-ahead thread, but for static encoders

    def prepare(self, batch: Batch, step: int) -> ViewBatch:
        """Choose the views of each row, pad and number their texts.

        Parameters
        ----------
        batch : Batch
            This rank's rows of the step.
        step : int
            Number of the step in the run, from 0.
        """
        grid, labels = self.views.choose(batch, step)
        pieces = in_a_bag(grid) if self.bags else length_sorted_slices(grid, self.recipe.slices, self.pad)
        texts = torch.from_numpy(text_ids(grid).reshape(len(labels), self.views.count(step)[1]))
        masked = []
        if self.masking is not None:
            anchors = batch.columns[CORPUS].or_empty()
            masked = self.masking.hide(anchors, step, self.rows, self.recipe.batch, self.recipe.slices)
        return ViewBatch(pieces, texts, torch.from_numpy(labels), masked)

    # --- the step

    def backward(self, model: Model, prepared: ViewBatch, step: int) -> dict[str, float]:
        """Compute the loss of the global batch and add this rank's share of its gradient.

        Parameters
        ----------
        model : Model
            Its parameters' gradients are added to.
        prepared : ViewBatch
            This rank's texts, on the model's device.
        step : int
            Number of the step in the run, from 0.

        Returns
        -------
        dict of str to float
            The loss and its parts over the global batch, for the log; the first is the contrastive loss.
        """
        rows, views = prepared.texts.shape
        cached = 0 < self.recipe.chunk < sum(len(item.places) for item in prepared.slices)
        chunks = self._chunks(model, prepared.slices)
        with torch.set_grad_enabled(not cached), autocast(self.recipe, self.ranks):
            own = self._embed(model, enumerate(chunks), step, (rows, views)).reshape(rows, views, -1)
        everyone = self.ranks.gather(own.detach(), self.sizes).requires_grad_()
        numbers = self.ranks.gather(torch.cat([prepared.texts, prepared.labels], dim=1), self.sizes)
        texts, labels = numbers.split([views, numbers.shape[1] - views], dim=1)
        batch = GlobalBatch(
            step, texts, labels, slice(0), everyone, None, model.apply_head, self.recipe.temperature,
            self.recipe.mask_equal_texts,
        )  # fmt: skip
        loss, metrics, batch = self.loss(model, batch)
        loss.backward()
        assert everyone.grad is not None
        gradient = everyone.grad[self.rows].reshape(rows * views, -1)
        if cached:
            # Gradient caching (Gao et al. 2021): encode again chunk by chunk, with the same dropout.
            for number, chunk in enumerate(chunks):
                with autocast(self.recipe, self.ranks):
                    again = self._embed(model, [(number, chunk)], step, (rows, views))
                again.backward(gradient)
        elif own.requires_grad:
            own.reshape(rows * views, -1).backward(gradient)

        def encode(encoder: nn.Module) -> Tensor:
            """Embeddings of the global batch's anchors by another encoder, shape (B, d)."""
            anchors = [[item.anchors(views) for item in chunk] for chunk in chunks]
            filled = [[item for item in chunk if len(item.places)] for chunk in anchors]
            with autocast(self.recipe, self.ranks):
                own_anchors = self._embed(model, enumerate(filled), step, (rows, 1), encoder)
            return self.ranks.gather(own_anchors, self.sizes)

        with torch.no_grad():
            for _, addition, part in self._hooks(model, batch):
                addition.finish(part, encode)
        if prepared.masked:
            total, more = masked_loss(model, prepared.masked, step, self.recipe, self.ranks)
            (self.recipe.mlm_weight * total).backward()
            metrics |= more
        return metrics

    def _embed(
        self,
        model: Model,
        chunks: Iterable[tuple[int, Sequence[Piece]]],
        step: int,
        shape: tuple[int, int],
        encoder: nn.Module | None = None,
    ) -> Tensor:
        """Embeddings of the given chunks in their places of a (rows, views) grid, zeros elsewhere."""
        embedded, where = [], []
        places = shape[0] * shape[1]
        for number, chunk in chunks:
            if not chunk:
                continue
            seed_torch(self.recipe.seed, "dropout", step, self.ranks.rank, number)
            with contextlib.ExitStack() as stack:
                hooked = model.additions.values() if encoder is None and not model.packs else ()
                for addition, item in itertools.product(hooked, chunk):
                    rows, views = item.places // shape[1] + self.rows.start, item.places % shape[1]
                    assert isinstance(addition, Addition) and isinstance(item, Slice)
                    stack.enter_context(addition.encoding(model, item, rows, views, step))
                embedded += model.embed(chunk, encoder)
            where += [item.places for item in chunk]
        if not embedded:
            return torch.zeros(places, model.dimension, device=self.ranks.device, dtype=model.dtype)
        alone = len(embedded) == 1
        embeddings, order = (embedded[0], where[0]) if alone else (torch.cat(embedded), torch.cat(where))
        if len(order) == places and bool((order[1:] > order[:-1]).all()):  # as in a bag
            return embeddings
        return embeddings.new_zeros(places, embeddings.shape[1]).index_copy(0, order, embeddings)

    def _chunks(self, model: Model, slices: Sequence[Piece]) -> Sequence[Sequence[Piece]]:
        """What is encoded at a time: all, or one slice where the model knows no better, or `chunk` texts."""
        if not self.recipe.chunk and model.packs:
            return [slices]
        return [[part] for item in slices for part in _split(item, self.recipe.chunk)]

    def loss(self, model: Model, batch: GlobalBatch) -> tuple[Tensor, dict[str, float], GlobalBatch]:
        """Loss of the global batch.

        Parameters
        ----------
        model : Model
            Its head and additions are applied.
        batch : GlobalBatch
            The embeddings before the head.

        Returns
        -------
        Tensor
            The loss with the additions' terms, a scalar.
        dict of str to float
            The contrastive loss and each term by name, with what it notes beside it, for the log.
        GlobalBatch
            The batch with the vectors after the head.
        """
        for _, addition, part in self._hooks(model, batch):
            batch = dataclasses.replace(batch, embeddings=addition.change(part))
        is_text = batch.texts.reshape(-1) != NO_TEXT
        flat = batch.embeddings.flatten(0, 1)
        if is_text.all():  # indexing is slow, above all on the way back
            z = batch.head(flat)
        else:
            headed = batch.head(flat[is_text])
            z = headed.new_zeros(len(is_text), headed.shape[-1]).index_put((is_text,), headed)
        batch = dataclasses.replace(batch, z=z.reshape(*batch.texts.shape, -1))
        host = self.views.count(batch.step)[0]
        negatives = [addition.negatives(part) for _, addition, part in self._hooks(model, batch)]
        masks = [addition.alike(part) for _, addition, part in self._hooks(model, batch)]
        bonuses = [addition.bonus(part, host) for _, addition, part in self._hooks(model, batch)]
        assert batch.z is not None
        further = [item for item in negatives if item]
        lengths = {batch.z.shape[-1]: (batch.z[:, :host], further)}
        lengths |= shorter(self.recipe, batch.z[:, :host], further)
        metrics: dict[str, float] = {}
        texts, total = batch.texts[:, :host], batch.z.new_zeros(())
        for length, (z, more) in lengths.items():
            part_loss = contrast(
                self.recipe, z, texts, more, [mask for mask in masks if mask is not None],
                [bonus for bonus in bonuses if bonus is not None],
            )  # fmt: skip
            metrics[f"loss_{length}" if metrics else "loss"] = float(part_loss.detach())
            total = total + self.recipe.contrastive_weight * part_loss
        for name, addition, part in self._hooks(model, batch):
            term = addition.loss(part)
            if term is not None:
                metrics[f"{name}_loss"] = float(term.detach())
                metrics |= {f"{name}_{what}": value for what, value in addition.noted.items()}
                total = total + addition.settings.weight * term
        return total, metrics, batch

    def _hooks(self, model: Model, batch: GlobalBatch) -> Iterator[tuple[str, Addition, GlobalBatch]]:
        """Each addition with its part of the batch, torch seeded for its draws."""
        view, label = self.views.count(batch.step)[0], 0
        for (name, addition), views in zip(model.additions.items(), self.views.added, strict=True):
            part = dataclasses.replace(
                batch,
                own=slice(view, view + views.count),
                labels=batch.labels[:, label : label + views.labels],
            )
            view, label = view + views.count, label + views.labels
            seed_torch(self.recipe.seed, name, batch.step)
            assert isinstance(addition, Addition)
            yield name, addition, part


def _split(item: Piece, chunk: int) -> Sequence[Piece]:
    """A slice in pieces of at most `chunk` texts; 0 leaves it whole, and a bag always is."""
    if not chunk or isinstance(item, Bag):
        return [item]
    pieces = zip(item.places.split(chunk), item.ids.split(chunk), item.mask.split(chunk), strict=True)
    return [Slice(*piece) for piece in pieces]
