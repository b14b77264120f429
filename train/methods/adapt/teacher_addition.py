"""Relational distillation: a text is as like the others of its batch as a teacher's cached vectors say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import GlobalBatch, mean_over
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting

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

    @classmethod
    def columns_of(cls, recipe: object) -> tuple[str, ...]:
        """Nothing beside the anchors has vectors."""
        return ()

    def loss(self, batch: GlobalBatch) -> Tensor:
        known, _ = self.vectors_of(batch.labels, batch.real)
        return distillation(batch, 0, known, self.settings)


def distillation(batch: GlobalBatch, view: int, known: Tensor, settings: Any, scale: float = 1.0) -> Tensor:
    """Mean over the rows that have a view of the cross entropy of its similarities to the known ones'.

    `scale` multiplies both temperatures.
    """
    own, texts = F.normalize(batch.embeddings[:, view], dim=-1), batch.texts[:, view]
    known, there = known.to(own), texts >= 0
    left_out = torch.eye(len(own), dtype=torch.bool, device=own.device) | ~there[:, None] | ~there
    if batch.mask_equal_texts:
        left_out |= texts[:, None] == texts
    temperatures = scale * settings.temperature, scale * settings.teacher_temperature
    return mean_over(list_net(own @ own.T, known @ known.T, left_out, *temperatures), there)
