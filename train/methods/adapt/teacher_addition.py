"""Relational distillation: a text is as like the others of its batch as a teacher's cached vectors say."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VectorStage
from train.additions.base import GlobalBatch, Host, mean_over
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting, width

LEFT_OUT = torch.finfo(torch.float32).min / 4  # in place of −∞, whose differences are not numbers


def list_net(
    student: Tensor, teacher: Tensor, left_out: Tensor, temperature: float, teacher_temperature: float
) -> Tensor:
    """Cross entropy of the student's distribution over a row's list to the teacher's.

    L_i = −Σ_j σ(S^T_i / τ3)_j · log σ(S_i / τ2)_j, σ being softmax.

    `student, teacher`: S and S^T, similarities of each row's anchor to the list, (B, C); `left_out`: what is
    in no list, (B, C), bool; a row without a list has loss 0. Returns: (B,), nats, at least the entropy of
    the teacher's distribution.

    Source: Liu et al. 2023 (RankCSE), the equation of L_ListNet; Cao et al. 2007 (ListNet, top one).
    """
    log_own = (student / temperature).masked_fill(left_out, LEFT_OUT).log_softmax(dim=1)
    right = (teacher / teacher_temperature).masked_fill(left_out, LEFT_OUT).softmax(dim=1)
    return -(right * log_own).masked_fill(left_out, 0).sum(dim=1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[teacher]``."""

    vectors: str = vectors_setting("that is the teacher's (`combine` makes one, too)", "teacher")
    temperature: float = setting(0.05, "divides the student's cosines", above=0)
    teacher_temperature: float = setting(0.05, "divides the teacher's cosines", above=0)
    weight: float = setting(1.0, "of this term. With `contrastive_weight = 0` it is the loss")


class Teacher(TeacherAddition):
    """Cross entropy between the teacher's and the student's softmax over the other texts of the batch.

    It looks at anchors alone, so a recipe without contrast encodes each text once. The teacher's vectors may
    have any number of dimensions. Equal texts stand in no list of each other.

    Source: ListNet (Cao et al. 2007) on anchors; Tian et al. 2021 call it similarity distillation.
    """

    settings_class = Settings
    anchors_alone = True
    scale = 1.0  # of the student's temperature

    def __init__(self, settings: Any, host: Host) -> None:
        super().__init__(settings, host)
        self.agreement = host.recipe.additions.get("agreement")

    @classmethod
    def columns_of(cls, recipe: object) -> tuple[str, ...]:
        """Nothing beside the anchors has vectors."""
        return ()

    def on_train_begin(self, store: Store) -> tuple[str, ...]:
        if kept := self.agreement:  # which has the start's vectors of general sentences
            vectors, present = VectorStage.open(store, kept["stage"], kept["vectors"]).read(0, [0])
            self.scale = width(torch.from_numpy(vectors.astype(np.float64)), torch.from_numpy(present))
        return super().on_train_begin(store)

    def loss(self, batch: GlobalBatch) -> Tensor:
        known, _ = self.vectors_of(batch.labels, batch.real)
        # A student that has to spread as wide as its teacher loses what it knows (benchmarks/LOG.md).
        return distillation(batch, 0, known, self.settings, (self.scale, 1.0))


def distillation(
    batch: GlobalBatch, view: int, known: Tensor, settings: Any, scales: tuple[float, float]
) -> Tensor:
    """Mean over the rows that have a view of the cross entropy of its similarities to the known ones'.

    `scales` multiply the temperatures, the student's and the teacher's.
    """
    own, texts = F.normalize(batch.embeddings[:, view], dim=-1), batch.texts[:, view]
    known, there = known.to(own), texts >= 0
    left_out = torch.eye(len(own), dtype=torch.bool, device=own.device) | ~there[:, None] | ~there
    if batch.mask_equal_texts:
        left_out |= texts[:, None] == texts
    temperatures = scales[0] * settings.temperature, scales[1] * settings.teacher_temperature
    return mean_over(list_net(own @ own.T, known @ known.T, left_out, *temperatures), there)
