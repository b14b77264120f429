"""What the additions share that compare a batch with a teacher's cached vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.store.store import Store
from train.additions import find
from train.additions.base import Addition, Host, Row, Views
from train.data.texts import SELF, Ids
from train.methods.adapt.vectors import CachedVectors
from train.recipe import Recipe

_LEAST_SPREAD = 0.05  # of a batch whose texts are all alike
_WIDE = 0.8  # spread of general sentences' vectors from which on temperatures are as they are set


def vectors_setting(whose: str, default: str = "") -> Any:
    """The setting `vectors`: which set of the store's vectors an addition reads."""
    return setting(default, f"the set of vectors {whose}, by its `embed --name`; empty: that without a name")


def spread(vectors: Tensor, real: Tensor) -> Tensor:
    """Mean of 1 − cos(t_j, t_k) over each two of the `real` rows, shape (B,), bool; a number, 0.05 to 2.

    Where all cosines of an encoder are high, a small distance is much to it (E5: 0.2; MiniLM: 0.9).
    """
    count, total = real.sum(), F.normalize(vectors, dim=-1)[real].sum(dim=0)
    cosine = (total @ total - count) / (count * (count - 1)).clamp(min=1)
    return (1 - cosine).clamp(min=_LEAST_SPREAD)


def width(vectors: Tensor, real: Tensor) -> float:
    """What an encoder's temperatures are multiplied by, above 0 to 1, by the spread of its vectors, (B, d).

    Where all cosines are high, a softmax at the usual temperature hardly tells them apart.
    """
    return (spread(vectors, real) / _WIDE).clamp(max=1).item()


def vector_regression(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """L_i = (1 − cos(u_i, t_i)) / s, at least 0, of the same texts, shape (B, d) each; shape (B,).

    s is the spread of the teacher's vectors of the `real` rows, shape (B,), bool.

    Source: Reimers & Gurevych 2020 (Making monolingual sentence embeddings multilingual), whose mean squared
    error this is for vectors of length 1, halved; without s.
    """
    cosines = (F.normalize(student, dim=-1) * F.normalize(teacher, dim=-1)).sum(dim=-1)
    return (1 - cosines) / spread(teacher, real)


class PairLabels(Views):
    """Labels that say which cached vectors are a row's: row id, number of its column, epoch."""

    # From 0; −1 stands for the anchor again, and for a text equal to it where the two are not told apart.

    labels = 3

    def __init__(self, columns: tuple[str, ...], tells_equal: bool = False) -> None:
        self.columns, self.tells_equal = columns, tells_equal

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        anchor, positive = row.views[0], row.views[:2][-1]  # one view where anchors alone are encoded
        which = -1
        if anchor is not None and positive is not None:
            for number, stage in enumerate(self.columns):
                text = None if stage == SELF else row.text(stage)
                if text is not None and np.array_equal(text, positive):
                    which = number if self.tells_equal or not np.array_equal(anchor, positive) else -1
                    break
        return row.views, [row.row_id, which, row.epoch]


class TeacherAddition(Addition):
    """An addition that reads a teacher's vectors of each row's anchor and of its positive.

    Its settings have a field `vectors`, made by `vectors_setting`.
    """

    tells_equal = False  # whether a positive that is equal to its anchor is one

    def __init__(self, settings: Any, host: Host) -> None:
        super().__init__(settings, host)
        self.columns, self.window = self.columns_of(host.recipe), host.recipe.window
        self.vectors: CachedVectors | None = None

    @classmethod
    def columns_of(cls, recipe: Recipe) -> tuple[str, ...]:
        """What has vectors beside the anchors: the positives."""
        return recipe.positives

    @classmethod
    def check(cls, settings: Any, recipe: Recipe) -> str:
        others = (name for name in recipe.additions if find(name).chooses_positives)
        said = "does not go with [{}], which chooses other positives; leave out one of the two"
        return next(map(said.format, others), "")

    @classmethod
    def views(cls, settings: Any, recipe: Recipe) -> Views:
        return PairLabels(cls.columns_of(recipe), cls.tells_equal)

    def on_train_begin(self, store: Store) -> tuple[str, ...]:
        self.vectors = CachedVectors(store, self.columns, self.settings.vectors, 2 * self.window)
        return self.vectors.stages

    def vectors_of(self, labels: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of the anchors and of the column that the labels name, shape (B, e) each, of length 1.

        Zeros where `there`, shape (B,), is false.
        """
        assert self.vectors is not None
        return self.vectors.pairs(labels, there)
