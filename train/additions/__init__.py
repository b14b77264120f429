"""Additions: what a method adds to plain contrastive learning. One file each, found by its name.

A recipe turns one on with a table of its name, such as ``[discriminator]``, whose keys are the fields of
its `Settings`. The file `discriminator.py` holds the class `Discriminator`, and nothing else needs to
know of it. An addition overrides those hooks of `Addition` that it needs; the objective calls them in this
order:

1. `views` (in the read-ahead thread): which texts of a row are encoded.
2. `encoding`: changes to hidden states within the encoder.
3. `change`: changes to embeddings before the head.
4. `negatives`: further negatives of the anchors.
5. `loss`: a further term, times `Settings.weight`.
6. `finish`: what is remembered for later steps, before the optimiser moves the weights.

From the third on everything is the gathered global batch, on every rank alike; torch is seeded by (seed,
name, step) before each hook, so that every rank draws the same and a resumed run draws it again. What an
addition remembers lies in buffers, which checkpoints hold.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from augment_cli.errors import UsageError
from train import losses

if TYPE_CHECKING:
    from train.data.padding import Slice
    from train.model.model import Model
    from train.recipe import Recipe

Ids = np.ndarray | None  # token ids of one text; None where there is no such text


@dataclass(frozen=True)
class Row:
    """A row whose views are being chosen. All token ids are cut and carry their special tokens.

    Attributes
    ----------
    row_id, epoch
        What a draw may depend on, besides the seed; the step would tie it to the batch size.
    views
        So far: anchor, positive, then the negatives.
    text
        The row's text in a stage, as token ids; None where the augmentation left it unchanged.
    special
        Numbers of special tokens before and after a text.
    """

    row_id: int
    epoch: int
    views: list[Ids]
    text: Callable[[str], Ids]
    special: tuple[int, int]


class Views:
    """Which texts of a row are encoded: here those there are.

    Attributes
    ----------
    stages
        Stages to read, besides the recipe's positives and negatives.
    once
        Those of them whose first draw is read in every epoch, though they have several.
    count
        Views appended to each row.
    labels
        Numbers a row, for the loss.
    """

    stages: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    count: int = 0
    labels: int = 0

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        """The row's views, `count` more than before, and its labels; pure in (row, settings, seed)."""
        return row.views, []

    def longest(self, length: int) -> int:
        """Most tokens that a view has where texts are cut to `length`."""
        return length


@dataclass(frozen=True)
class Batch:
    """The gathered global batch of B rows, as a hook sees it.

    Attributes
    ----------
    step
        Number of the step in the run.
    texts
        Text ids, shape (B, views), `NO_TEXT` where there is no text.
    labels
        The addition's own labels, shape (B, Views.labels).
    own
        The addition's own views among all.
    embeddings
        Before the head, shape (B, views, d).
    z
        After the head, shape (B, views, h), not normalised; None in `change`.
    head
        Maps (n, d) to (n, h).
    temperature
        The recipe's τ.
    mask_equal_texts
        Whether equal texts are no negatives of each other.
    """

    step: int
    texts: Tensor
    labels: Tensor
    own: slice
    embeddings: Tensor
    z: Tensor | None
    head: Callable[[Tensor], Tensor]
    temperature: float
    mask_equal_texts: bool

    @property
    def there(self) -> Tensor:
        """Which rows are no fillers, shape (B,), bool."""
        return self.texts[:, 0] >= 0


class Addition(nn.Module):
    """The base class: hooks that do nothing.

    Parameters
    ----------
    settings
        The recipe's table.
    model
        The model so far: encoder, pooling and head.

    Attributes
    ----------
    settings_class
        Keys of the recipe's table, each with its default; `weight` multiplies the term of `loss`.
    choices
        The values a setting may have, where it is a choice.
    steps
        Length of the run, once that is known.
    """

    settings_class: ClassVar[type[Any]]
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    steps: int = 0

    def __init__(self, settings: Any, model: Model) -> None:
        super().__init__()
        self.settings = settings

    @classmethod
    def check(cls, settings: Any, recipe: Recipe) -> str:
        """What is wrong with the settings, in words; empty if nothing is."""
        return ""

    @classmethod
    def views(cls, settings: Any, recipe: Recipe) -> Views:
        """The choice of texts."""
        return Views()

    def encoding(
        self, model: Model, item: Slice, rows: Tensor, views: Tensor, step: int
    ) -> contextlib.AbstractContextManager[Any]:
        """Entered while a slice is encoded.

        Parameters
        ----------
        rows, views
            Which row of the global batch and which view of it each text of the slice is, shape (n,) each.
        """
        return contextlib.nullcontext()

    def change(self, batch: Batch) -> Tensor:
        """The embeddings that go to the head and the loss, shape (B, views, d)."""
        return batch.embeddings

    def negatives(self, batch: Batch) -> tuple[Tensor, Tensor] | None:
        """Further negatives of every anchor: vectors (n, h) in the head's space, and their text ids (n,)."""
        return None

    def loss(self, batch: Batch) -> Tensor | None:
        """A further term of the loss, a scalar."""
        return None

    def finish(self, batch: Batch, encode: Callable[[nn.Module], Tensor]) -> None:
        """Remember something of this step, without gradients.

        Parameters
        ----------
        encode
            Embeds the anchors of the whole batch with another encoder: shape (B, d).
        """


def find(name: str) -> type[Addition]:
    """The class of an addition by its file's name: ``soft_negative`` gives `SoftNegative`."""
    module = importlib.import_module(f"train.additions.{name}")
    return getattr(module, "".join(part.title() for part in name.split("_")))


def make_settings(name: str, values: dict[str, Any], where: str) -> Any:
    """Check a recipe's table and make the addition's settings of it.

    Raises
    ------
    UsageError
        If a key is unknown or a value does not fit; `where` names the recipe.
    """
    from train.recipe import checked_values

    kind = find(name)
    return kind.settings_class(
        **checked_values(kind.settings_class, values, kind.choices, f"{where}: [{name}]")
    )


def check_additions(recipe: Recipe, where: str) -> None:
    """Refuse combinations of settings that make no sense.

    Raises
    ------
    UsageError
        If an addition refuses the recipe.
    """
    for name, values in recipe.additions.items():
        kind = find(name)
        if recipe.objective != "contrastive":
            raise UsageError(f'{where}: [{name}] needs objective "contrastive"')
        if kind.negatives is not Addition.negatives and not losses.find(recipe.loss).FURTHER_NEGATIVES:
            raise UsageError(f'{where}: [{name}] adds columns, which needs loss "one-way" or "symmetric"')
        if wrong := kind.check(kind.settings_class(**values), recipe):
            raise UsageError(f"{where}: [{name}] {wrong}")


def make_views(recipe: Recipe) -> list[Views]:
    """The choices of texts of a recipe's additions, in its order."""
    kinds = [(find(name), values) for name, values in recipe.additions.items()]
    return [kind.views(kind.settings_class(**values), recipe) for kind, values in kinds]


def make_additions(recipe: Recipe, model: Model) -> nn.ModuleDict:
    """A recipe's additions by name, with their parameters and buffers."""
    return nn.ModuleDict(
        {
            name: find(name)(find(name).settings_class(**values), model)
            for name, values in recipe.additions.items()
        }
    )


def as_json(settings: Any) -> dict[str, Any]:
    """All of an addition's settings, so that a checkpoint knows the defaults it was made with."""
    return dataclasses.asdict(settings)


def row_generator(key: int, seed: int, row: Row, every_epoch: bool = False) -> np.random.Generator:
    """Draws of a row that depend on nothing but seed, row and, if wanted, epoch."""
    return np.random.default_rng([key, seed, row.row_id, row.epoch + 1 if every_epoch else 0])


def rows_mean(values: Tensor, there: Tensor) -> Tensor:
    """Mean of values (B,) over the rows that are there; 0 where none is."""
    return torch.where(there, values, torch.zeros_like(values)).sum() / there.sum().clamp(min=1)
