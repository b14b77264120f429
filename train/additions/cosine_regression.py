"""Regression on a teacher's cached vectors: on their cosines within the batch, or on the vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from augment_cli.errors import MixError
from augment_cli.store.store import Store
from train.additions.base import Addition, GlobalBatch, Host, PairLabels, Views, mean_over
from train.data.vectors import CachedVectors
from train.recipe import Recipe


def similarity_regression(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """Mean squared difference of the cosines that two encoders give each two texts of a batch.

    L_i = 1/n Σ_j (cos(u_i, u_j) − cos(t_i, t_j))², over the n real rows j.

    Parameters
    ----------
    student, teacher : Tensor
        u and t of the same texts, shape (B, d) and (B, e); scaled to length 1 here.
    real : Tensor
        Which rows count, shape (B,), bool.

    Returns
    -------
    Tensor
        Shape (B,), from 0 to 4.

    Notes
    -----
    Source: Reimers & Gurevych 2019 (Sentence-BERT), the regression objective, with a teacher's cosine as the
    pair's score.
    """
    cosines = [(unit := F.normalize(vectors, dim=-1)) @ unit.T for vectors in (student, teacher)]
    squares = (cosines[0] - cosines[1]) ** 2
    return squares.masked_fill(~real, 0).sum(dim=1) / real.sum().clamp(min=1)


def vector_regression(student: Tensor, teacher: Tensor) -> Tensor:
    """L_i = 1 − cos(u_i, t_i).

    Parameters
    ----------
    student, teacher : Tensor
        u and t of the same texts, shape (B, d) each; scaled to length 1 here.

    Returns
    -------
    Tensor
        Shape (B,), from 0 to 2.

    Notes
    -----
    Source: Reimers & Gurevych 2020 (Making monolingual sentence embeddings multilingual), whose mean squared
    error this is for vectors of length 1, halved.
    """
    return 1 - (F.normalize(student, dim=-1) * F.normalize(teacher, dim=-1)).sum(dim=-1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[cosine_regression]``.

    Attributes
    ----------
    on : str
        ``similarities``: of the batch's anchors, and of its positives, among each other; the teacher's
        vectors may have any length. ``vectors``: each anchor's and each positive's own vector.
    vectors : str
        Which set of the store's vectors is the teacher's, as `augment-cli embed --name` called it; empty for
        the set without a name.
    weight : float
        Of this term. With ``contrastive_weight = 0`` it is the loss.
    """

    on: str = "similarities"
    vectors: str = ""
    weight: float = 1.0


class CosineRegression(Addition):
    """The embeddings that are exported, before the head, agree with a teacher's cached vectors."""

    settings_class = Settings
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"on": ("similarities", "vectors")}

    def __init__(self, settings: Settings, host: Host) -> None:
        super().__init__(settings, host)
        self.positives, self.window = host.recipe.positives, host.recipe.window
        self.vectors: CachedVectors | None = None

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if "discriminator" in recipe.additions:
            return "does not go with [discriminator], which chooses other positives; leave out one of the two"
        return ""

    @classmethod
    def views(cls, settings: Settings, recipe: Recipe) -> Views:
        return PairLabels(recipe)

    def open(self, store: Store) -> tuple[str, ...]:
        self.vectors = CachedVectors(store, self.positives, self.settings.vectors, 2 * self.window)
        return self.vectors.stages

    def loss(self, batch: GlobalBatch) -> Tensor:
        assert self.vectors is not None
        total = batch.embeddings.new_zeros(len(batch.texts))
        for view, known in enumerate(self.vectors.pairs(batch.labels, batch.real)):
            teacher, student = known.to(batch.embeddings), batch.embeddings[:, view]
            if self.settings.on == "similarities":
                total = total + similarity_regression(student, teacher, batch.real) / 2
            elif student.shape == teacher.shape:
                total = total + vector_regression(student, teacher) / 2
            else:
                raise MixError(
                    f"[cosine_regression] on vectors: the teacher's have {teacher.shape[1]} numbers, the "
                    f'encoder\'s {student.shape[1]}; write on = "similarities", or embed with another model'
                )
        return mean_over(total, batch.real)
