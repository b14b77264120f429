"""Regression on a teacher's cached vectors: on their cosines within the batch, or on the vectors."""

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.errors import MixError
from train.additions.base import GlobalBatch, mean_over
from train.methods.adapt.base_teacher import TeacherAddition, vector_regression, vectors_setting


def similarity_regression(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """Mean squared difference of the cosines that two encoders give each two texts of a batch.

    L_i = 1/n Σ_j (cos(u_i, u_j) − cos(t_i, t_j))², over the n real rows j, from 0 to 4; u (B, d), t (B, e).

    Source: Reimers & Gurevych 2019 (Sentence-BERT), the regression objective, with a teacher's cosine as the
    pair's score.
    """
    cosines = [(unit := F.normalize(vectors, dim=-1)) @ unit.T for vectors in (student, teacher)]
    squares = (cosines[0] - cosines[1]) ** 2
    return squares.masked_fill(~real, 0).sum(dim=1) / real.sum().clamp(min=1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[cosine_regression]``."""

    on: str = setting(
        "similarities",
        "`similarities`: of the batch's anchors, and of its positives, among each other; the "
        "teacher's vectors may have any length. `vectors`: each anchor's and each positive's own "
        "vector",
        choices=("similarities", "vectors"),
    )
    vectors: str = vectors_setting("that is the teacher's")
    weight: float = setting(1.0, "of this term. With `contrastive_weight = 0` it is the loss")


class CosineRegression(TeacherAddition):
    """The embeddings that are exported, before the head, agree with a teacher's cached vectors."""

    settings_class = Settings

    def loss(self, batch: GlobalBatch) -> Tensor:
        total = batch.embeddings.new_zeros(len(batch.texts))
        for view, known in enumerate(self.vectors_of(batch.labels, batch.real)):
            teacher, student = known.to(batch.embeddings), batch.embeddings[:, view]
            if self.settings.on == "similarities":
                total = total + similarity_regression(student, teacher, batch.real) / 2
            elif student.shape == teacher.shape:
                total = total + vector_regression(student, teacher, batch.real) / 2
            else:
                raise MixError(
                    f"[cosine_regression] on vectors: the teacher's have {teacher.shape[1]} numbers, the "
                    f'encoder\'s {student.shape[1]}; write on = "similarities", or embed with another model'
                )
        return mean_over(total, batch.real)
