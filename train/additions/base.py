"""The contract of an addition: its hooks, and what they are given.

The contrastive objective (`train/objectives/contrastive.py`) calls the hooks in this order:

1. `views` (before the step, mostly in the read-ahead thread): which texts of a row are encoded.
2. `encoding`: changes to hidden states within the encoder.
3. `change`: changes to embeddings before the head.
4. `negatives`: further negatives of the anchors.
5. `false_negatives`: the mask of pairs of the batch that are not negatives.
6. `logit_bias`: what is added to the logits of rows' own hard negatives.
7. `loss`: a further term, times `Settings.weight`.
8. `on_step_end`: what is remembered for later steps, before the optimiser moves the weights.

From the third on everything is the gathered global batch, on every rank alike; torch is seeded by (seed,
name, step) before each hook, so that every rank draws the same and a resumed run draws it again. What an
addition remembers lies in buffers, which checkpoints hold.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from augment_cli.store.store import Store
from train.data import Ids
from train.data.padding import Slice
from train.recipe import Recipe


class Host(Protocol):
    """What an addition may know of the model it is added to."""

    encoder: nn.Module  # a transformers model
    recipe: Recipe  # the settings of the run

    @property
    def head_dimension(self) -> int:
        """h, length of a vector after the head."""

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the embeddings."""


@dataclass(frozen=True)
class Row:
    """A row whose views are being chosen. All token ids are cut and carry their special tokens."""

    row_id: int  # what a draw may depend on, with the epoch and the seed: a step depends on the batch size
    epoch: int
    views: list[Ids]  # so far: anchor, positive, then the negatives; None where there is no text
    # The row's text in a stage of that name, as token ids; None where the augmentation left it unchanged.
    text: Callable[[str], Ids]
    special: tuple[int, int]  # numbers of special tokens before and after a text


class Views:
    """Which texts of a row are encoded: in this base class, those chosen so far."""

    stages: tuple[str, ...] = ()  # to read, besides the recipe's positives and negatives
    once: tuple[str, ...] = ()  # those of them whose first draw is read in every epoch
    count: int = 0  # views appended to each row
    labels: int = 0  # numbers for each row, for the loss
    # Whether the positive becomes another text than the anchor, without which an encoder that has no dropout
    # has nothing to learn from it.
    changes_positive: bool = False

    def __init__(self, settings: Any, recipe: Recipe) -> None:
        self.settings, self.recipe = settings, recipe

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        """The row's views, `count` more than so far, and `labels` numbers; pure in (row, settings, seed)."""
        return row.views, []

    def draws(self, key: int, row: Row, every_epoch: bool = False) -> np.random.Generator:
        """Draws of a row, anew in every epoch if wanted; each purpose has a key, any fixed number."""
        return np.random.default_rng([key, self.recipe.seed, row.row_id, row.epoch + 1 if every_epoch else 0])

    def longest(self, length: int) -> int:
        """Most tokens that a view has where texts are cut to `length` tokens."""
        return length


@dataclass(frozen=True)
class GlobalBatch:
    """The gathered global batch of B rows, as a hook sees it."""

    step: int  # of the run, from 0
    texts: Tensor  # text ids, shape (B, views), int64; `NO_TEXT` where there is no text
    labels: Tensor  # the addition's own, shape (B, Views.labels), int64
    own: slice  # the addition's own views among all
    embeddings: Tensor  # before the head, shape (B, views, d)
    z: Tensor | None  # after the head, shape (B, views, h), not normalised; None in `change`
    head: Callable[[Tensor], Tensor]  # maps (n, d) to (n, h)
    temperature: float  # the recipe's τ
    mask_equal_texts: bool  # whether equal texts are left out of each other's negatives

    @property
    def real(self) -> Tensor:
        """Which rows hold a sentence and are not padding, shape (B,), bool."""
        return self.texts[:, 0] >= 0


class Addition(nn.Module):
    """The base class: hooks that do nothing. It is made with its settings and the model so far."""

    # A dataclass with the keys of the recipe's table: fields with default, help and limits
    # (`augment_cli.contract.parameters.parameter`). `weight` multiplies the term of `loss`.
    settings_class: ClassVar[type[Any]]
    views_class: ClassVar[type[Views]] = Views  # which texts of a row are encoded
    # Whether `loss` reads no view but the anchor, so that a recipe without contrast needs no positives.
    anchors_alone: ClassVar[bool] = False
    # Whether `views` may put another positive in a row's place, for which a teacher has no vectors.
    chooses_positives: ClassVar[bool] = False
    # Whether `views` draws the positive anew among the recipe's own; what others choose goes by it.
    draws_positive: ClassVar[bool] = False
    steps: int = 0  # length of the run, once that is known
    noted: dict[str, float]  # what `loss` leaves for the log beside its own value, such as an accuracy

    def __init__(self, settings: Any, host: Host) -> None:
        super().__init__()
        self.settings, self.noted = settings, {}

    @classmethod
    def check(cls, settings: Any, recipe: Recipe) -> str:
        """What is wrong with the settings, whose types and choices are right; empty if nothing is."""
        return ""

    @classmethod
    def adds_negatives(cls) -> bool:
        """Whether there is a hook `negatives`, which not every loss has room for."""
        return cls.negatives is not Addition.negatives

    @classmethod
    def changes_hidden_states(cls) -> bool:
        """Whether there is a hook `encoding`, which needs transformers' own forward pass, slice by slice."""
        return cls.encoding is not Addition.encoding

    @classmethod
    def views(cls, settings: Any, recipe: Recipe) -> Views:
        """The choice of texts, given the addition's own settings and all of the run's: `views_class`."""
        return cls.views_class(settings, recipe)

    @classmethod
    def dev_tests(cls, settings: Any, recipe: Recipe, store: Store) -> list[Any]:
        """Dev scores of its own, of held-out rows, such as `train.watching.evaluate.PairRetrieval`."""
        return []

    def on_train_begin(self, store: Store) -> tuple[str, ...]:
        """Called once before the first step, with the store of the run.

        What it returns are stages that it reads by itself, besides columns; the run records their digests.
        """
        return ()

    def encoding(
        self, model: Host, item: Slice, rows: Tensor, views: Tensor, step: int
    ) -> contextlib.AbstractContextManager[Any]:
        """Entered while the model encodes a slice of n texts in a step, counted from 0.

        `rows, views`: which row of the global batch and which view of it each text is, shape (n,) each.
        """
        return contextlib.nullcontext()

    def change(self, batch: GlobalBatch) -> Tensor:
        """The embeddings that go to the head and the loss, shape (B, views, d)."""
        return batch.embeddings

    def negatives(self, batch: GlobalBatch) -> tuple[Tensor, Tensor] | None:
        """Further negatives of every anchor: vectors (n, h) in the head's space, and their text ids (n,)."""
        return None

    def false_negatives(self, batch: GlobalBatch) -> Tensor | None:
        """Which anchors and positives of different rows do not meet: (2B, 2B), bool, the anchors first."""
        return None

    def logit_bias(self, batch: GlobalBatch, views: int) -> Tensor | None:
        """Added to the logits of rows' own hard negatives: (B, views - 2), `views` being the recipe's own."""
        return None

    def loss(self, batch: GlobalBatch) -> Tensor | None:
        """A further term of the loss, a scalar."""
        return None

    def on_step_end(self, batch: GlobalBatch, encode: Callable[[nn.Module], Tensor]) -> None:
        """Remember something of this step, without gradients.

        `encode` embeds the anchors of the whole batch with another encoder: shape (B, d).
        """


def mean_over(values: Tensor, rows: Tensor) -> Tensor:
    """Mean of values (B,) over the rows of a mask (B,); 0 where no row counts."""
    if rows.all():
        return values.mean()
    return torch.where(rows, values, torch.zeros_like(values)).sum() / rows.sum().clamp(min=1)
