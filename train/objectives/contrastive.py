"""The contrastive objective: the views of the gathered global batch, their loss, and its gradient."""

import contextlib
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from augment_cli.errors import UsageError
from train import components, losses
from train.additions.base import Addition, GlobalBatch, mean_over
from train.data import NO_SENTENCE, NO_TEXT, text_ids
from train.data.order import rank_slice, seed_torch
from train.data.padding import Bag, Piece, Slice, in_a_bag, length_sorted_slices
from train.data.reader import Batch
from train.machine.distributed import Ranks
from train.model import Model
from train.objectives.views import ViewChooser
from train.recipe import Recipe


@dataclass(frozen=True)
class ViewBatch:
    """A rank's texts of one step."""

    slices: Sequence[Piece]  # the texts, padded or in a bag; `places` index the (rows · views) grid
    texts: Tensor  # text ids of the grid, shape (rows, views), int64; `NO_TEXT` where there is none
    labels: Tensor  # the additions' labels, shape (rows, labels), int64
    masked: list[Any]  # the anchors with hidden tokens, for the auxiliary loss; empty without it


class ContrastiveObjective:
    """Contrast each row's anchor and positive with the rest of the global batch, as the recipe says."""

    def __init__(self, recipe: Recipe, tokenizer: Any, ranks: Ranks, bags: bool = False) -> None:
        self.recipe, self.ranks, self.bags = recipe, ranks, bags
        self.pad = tokenizer.pad_token_id or 0
        self.rows = rank_slice(recipe.batch, ranks.rank, ranks.ranks)
        self.views = ViewChooser(recipe, tokenizer, self.rows)
        self.columns, self.once = self.views.columns, self.views.once
        self.views_a_row = self.views.count(0)[1]  # at most: a step without negatives has fewer
        self.finish = self.views.finish if bags else None
        self.slices = slices_of(recipe, ranks)
        self.scaler = make_scaler(recipe, ranks)
        self.masked = None
        if recipe.masking.weight:
            masked_language = components.part("methods.mlm.masked_language")
            self.masked = masked_language.MaskedObjective(recipe, tokenizer, ranks)
            self.masked.scaler = self.scaler
        slices = (rank_slice(recipe.batch, rank, ranks.ranks) for rank in range(ranks.ranks))
        self.sizes = [item.stop - item.start for item in slices]

    # --- before the step; in the read-ahead thread, but for static encoders

    def prepare(self, batch: Batch, step: int) -> ViewBatch:
        """Choose the views of each row, pad and number their texts."""
        grid, labels = self.views.choose(batch, step)
        pieces = in_a_bag(grid) if self.bags else length_sorted_slices(grid, self.slices, self.pad)
        texts = torch.from_numpy(text_ids(grid).reshape(len(labels), self.views.count(step)[1]))
        masked = self.masked.prepare(batch, step) if self.masked else []
        return ViewBatch(pieces, texts, torch.from_numpy(labels), masked)

    # --- the step

    def backward(self, model: Model, prepared: ViewBatch, step: int) -> dict[str, float]:
        """Compute the loss of the global batch and add this rank's share of its gradient."""
        # Embed this rank's texts, gather everyone's, and compute the loss of the global batch; its gradient
        # goes back through this rank's texts alone, as the ranks' gradients are added up afterwards.
        rows, views = prepared.texts.shape
        cached = 0 < self.recipe.gradient_cache < sum(len(item.places) for item in prepared.slices)
        chunks = self._chunks(model, prepared.slices)
        with torch.set_grad_enabled(not cached), autocast(self.recipe, self.ranks):
            own = self._embed(model, enumerate(chunks), step, (rows, views)).reshape(rows, views, -1)
        everyone = self.ranks.gather(own.detach(), self.sizes).requires_grad_()
        numbers = self.ranks.gather(torch.cat([prepared.texts, prepared.labels], dim=1), self.sizes)
        texts, labels = numbers.split([views, numbers.shape[1] - views], dim=1)
        batch = GlobalBatch(
            step, texts, labels, slice(0), everyone, None, model.apply_head, self.recipe.temperature,
            self.recipe.contrast.mask_equal_texts,
        )  # fmt: skip
        loss, metrics, batch = self.loss(model, batch)
        self.scaler.scale(loss).backward()
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
                addition.on_step_end(part, encode)
        if self.masked and prepared.masked:
            metrics |= self.masked.backward(model, prepared.masked, step)
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
        single = len(embedded) == 1
        embeddings, order = (embedded[0], where[0]) if single else (torch.cat(embedded), torch.cat(where))
        if len(order) == places and bool((order[1:] > order[:-1]).all()):  # as in a bag
            return embeddings
        return embeddings.new_zeros(places, embeddings.shape[1]).index_copy(0, order, embeddings)

    def _chunks(self, model: Model, slices: Sequence[Piece]) -> Sequence[Sequence[Piece]]:
        """What is encoded at a time: all, one slice where the model knows no better, or some texts of it."""
        if not self.recipe.gradient_cache and model.packs:
            return [slices]
        return [[part] for item in slices for part in _split(item, self.recipe.gradient_cache)]

    def loss(self, model: Model, batch: GlobalBatch) -> tuple[Tensor, dict[str, float], GlobalBatch]:
        """Loss of the global batch with the additions' terms, its parts for the log, the batch with z."""
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

        def answers(hook: str, *more: int) -> list[Any]:
            asked = self._hooks(model, batch)
            found = (getattr(addition, hook)(part, *more) for _, addition, part in asked)
            return [answer for answer in found if answer is not None]

        further, masks, biases = answers("negatives"), answers("false_negatives"), answers("logit_bias", host)
        assert batch.z is not None
        metrics: dict[str, float] = {}
        lengths = {}
        if not self.views.anchors_alone:
            lengths = {batch.z.shape[-1]: (batch.z[:, :host], further)}
            lengths |= shorter(self.recipe, batch.z[:, :host], further)
        texts, total = batch.texts[:, :host], batch.z.new_zeros(())
        for length, (z, more) in lengths.items():
            part_loss = contrast(self.recipe, z, texts, more, masks, biases)
            metrics[f"loss_{length}" if metrics else "loss"] = float(part_loss.detach())
            total = total + self.recipe.contrast.weight * part_loss
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


def autocast(recipe: Recipe, ranks: Ranks) -> torch.autocast:
    """Autocast to the 16 bits that the recipe asks for, if any."""
    low = torch.float16 if recipe.precision == "fp16" else torch.bfloat16
    return torch.autocast(ranks.device.type, low, enabled=recipe.precision in ("bf16", "fp16"))


def make_scaler(recipe: Recipe, ranks: Ranks) -> torch.amp.GradScaler:
    """Loss scaling, which keeps gradients within fp16's range; it does nothing in other formats."""
    return torch.amp.GradScaler(ranks.device.type, enabled=recipe.precision == "fp16")


def slices_of(recipe: Recipe, ranks: Ranks) -> int:
    """Into how many slices a batch is cut: on a GPU each would cost more launches than it saves padding."""
    return recipe.reading.slices if ranks.device.type == "cpu" else 1


def _split(item: Piece, chunk: int) -> Sequence[Piece]:
    """A slice in pieces of at most `chunk` texts; 0 leaves it whole, and a bag always is."""
    if not chunk or isinstance(item, Bag):
        return [item]
    pieces = zip(item.places.split(chunk), item.ids.split(chunk), item.mask.split(chunk), strict=True)
    return [Slice(*piece) for piece in pieces]


def contrast(
    recipe: Recipe,
    z: Tensor,
    texts: Tensor,
    negatives: list[tuple[Tensor, Tensor]],
    false_negatives: Iterable[Tensor] = (),
    logit_biases: Iterable[Tensor] = (),
) -> Tensor:
    """Mean of the recipe's contrastive loss over the rows of the global batch, padding left out; nats."""
    # z: after the head, (B, views, h); texts: their text ids, (B, views). negatives: further ones of every
    # anchor with their text ids, (n, h) and (n,), for losses with room for them. false_negatives: anchors and
    # positives that are no negatives of each other, (2B, 2B), bool, the anchors first. logit_biases: added to
    # the logits of a row's own hard negatives, (B, views - 2).
    loss = losses.find(recipe.loss)
    function = loss.with_settings(recipe.loss_settings)
    if loss.layout == "pool":
        # (B, views, h) to pairs of views: all anchors, then all negatives of the first stage, …
        first, second = (z[:, side::2].transpose(0, 1).flatten(0, 1) for side in (0, 1))
        ids = torch.cat([texts[:, side::2].T.reshape(-1) for side in (0, 1)])
        partner = torch.arange(len(ids), device=ids.device).roll(len(first))
        excluded = excluded_pairs(
            ids, ids[partner], ids, partner, recipe.contrast.mask_equal_texts, ids[partner]
        )
        own_views = torch.arange(len(texts), device=ids.device)
        own_views = torch.cat([own_views, own_views + len(first)])
        for mask in false_negatives:
            excluded[own_views[:, None], own_views] |= mask
        return mean_over(function(first, second, excluded, recipe.temperature), ids != NO_TEXT)
    rows, columns = texts[:, 0], torch.cat([texts[:, 1:].T.reshape(-1), *(ids for _, ids in negatives)])
    own = torch.arange(len(rows), device=rows.device)
    beside = torch.cat([rows, columns.new_full((len(columns) - len(rows),), NO_SENTENCE)])
    excluded = excluded_pairs(rows, texts[:, 1], columns, own, recipe.contrast.mask_equal_texts, beside)
    for mask in false_negatives:
        excluded[:, : len(rows)] |= mask[: len(rows), len(rows) :]
    if recipe.contrast.negative_scope == "own":
        for column in range(1, texts.shape[1] - 1):
            others = excluded[:, column * len(rows) : (column + 1) * len(rows)]
            others |= ~torch.eye(len(rows), dtype=torch.bool, device=others.device)
    logit_bias = None
    own_bias = sum(
        logit_biases, z.new_full((len(rows), texts.shape[1] - 2), recipe.contrast.hard_negative_weight)
    )
    if own_bias.count_nonzero():
        logit_bias = z.new_zeros(excluded.shape)
        for column in range(1, texts.shape[1] - 1):
            logit_bias[own, own + column * len(rows)] = own_bias[:, column - 1]
    # Not by indexing, whose way back fills a tensor of zeros for each part and adds them up.
    anchors, *further = z.unbind(1)
    further += [vectors for vectors, _ in negatives]
    candidates = torch.cat(further) if len(further) > 1 else further[0]
    return mean_over(function(anchors, candidates, excluded, recipe.temperature, logit_bias), rows != NO_TEXT)


def excluded_pairs(
    rows: Tensor,
    partners: Tensor,
    columns: Tensor,
    own: Tensor,
    equal: bool = True,
    beside: Tensor | None = None,
) -> Tensor:
    """Which columns of the logits are not negatives of which rows."""
    # Text ids, of which equal ones mean equal texts: of the rows and of their positives, (R,) each; of the
    # columns, (C,); `beside`: of the columns' own partners, (C,), as the positive of an equal sentence is no
    # negative either. `own`: column of each row's positive, (R,), never excluded. Returns (R, C), bool.
    missing, padded = columns == NO_TEXT, rows == NO_TEXT
    excluded = torch.zeros(len(rows), len(columns), dtype=torch.bool, device=rows.device)
    if bool(missing.any()) or bool(padded.any()):
        excluded = missing | padded[:, None]
    if equal and not _all_differ(rows, partners, columns, beside):
        for texts in (columns,) if beside is None else (columns, beside):
            excluded |= (texts == rows[:, None]) | (texts == partners[:, None])
    excluded[torch.arange(len(rows), device=rows.device), own] = False
    return excluded


def _all_differ(rows: Tensor, partners: Tensor, columns: Tensor, beside: Tensor | None) -> bool:
    """Whether no text occurs twice, but as its own partner: then there are no pairs to look for."""
    # Sorting some hundred numbers costs little beside comparing each with each.
    texts = torch.cat([rows, columns, *([] if beside is None else [beside])])
    distinct = len(torch.unique(texts[texts >= 0]))
    own = (rows == partners) & (rows >= 0)
    return distinct == int((rows >= 0).sum() + (columns >= 0).sum() - own.sum())


def shorter(
    recipe: Recipe, z: Tensor, negatives: list[tuple[Tensor, Tensor]]
) -> dict[int, tuple[Tensor, list[tuple[Tensor, Tensor]]]]:
    """The batch and the further negatives cut to each of the recipe's `dimensions` (Matryoshka)."""
    # Source: Kusupati et al. 2022 (Matryoshka representation learning), equation 1: the loss is the sum over
    # m of c_m times the loss of the first m numbers, the full length being one of them; c_m = 1, as theirs.
    if too_long := [str(m) for m in recipe.contrast.dimensions if m >= z.shape[-1]]:
        raise UsageError(
            f"dimensions = {', '.join(too_long)}: the encoder's vectors have {z.shape[-1]} numbers; "
            "name smaller ones"
        )
    return {
        m: (z[..., :m], [(vectors[:, :m], ids) for vectors, ids in negatives])
        for m in recipe.contrast.dimensions
    }
