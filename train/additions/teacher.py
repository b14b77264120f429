"""Relational distillation: a text is as like the others of its batch as a teacher's cached vectors say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import GlobalBatch, mean_over
from train.additions.base_teacher import TeacherAddition, vectors_setting
from train.additions.ranking import list_net


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


def distillation(batch: GlobalBatch, view: int, known: Tensor, settings: Any) -> Tensor:
    """Mean over the rows that have a view of the cross entropy of its similarities to the known ones'."""
    own, texts = F.normalize(batch.embeddings[:, view], dim=-1), batch.texts[:, view]
    known, there = known.to(own), texts >= 0
    left_out = torch.eye(len(own), dtype=torch.bool, device=own.device) | ~there[:, None] | ~there
    if batch.mask_equal_texts:
        left_out |= texts[:, None] == texts
    temperatures = settings.temperature, settings.teacher_temperature
    return mean_over(list_net(own @ own.T, known @ known.T, left_out, *temperatures), there)
