"""RankCSE: a row's similarities to the batch have the order that a teacher's cached vectors give them."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import GlobalBatch, mean_over
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting
from train.methods.adapt.teacher_addition import LEFT_OUT, list_net


def list_mle(student: Tensor, teacher: Tensor, left_out: Tensor, temperature: float) -> Tensor:
    """Negative log likelihood of the teacher's order under the student's similarities.

    L_i = −log Π_j exp(S_i,π(j) / τ2) / Σ_{k ≥ j} exp(S_i,π(k) / τ2), π being the order of falling S^T_i.

    Arguments as in `list_net`; of equal similarities of the teacher the first counts as the larger. Returns:
    Shape (B,), nats, at least 0; it grows with the length of the list, as the paper's.

    Source: Liu et al. 2023 (RankCSE), the equation of L_ListMLE; Xia et al. 2008 (ListMLE).
    """
    order = teacher.masked_fill(left_out, -torch.inf).argsort(dim=1, descending=True, stable=True)
    missing = left_out.gather(1, order)
    logits = (student / temperature).masked_fill(left_out, LEFT_OUT).gather(1, order)
    rest = logits.flip(1).logcumsumexp(dim=1).flip(1)
    return (rest - logits).masked_fill(missing, 0).sum(dim=1)


def consistency(first: Tensor, second: Tensor, left_out: Tensor, temperature: float) -> Tensor:
    """Jensen–Shannon divergence of the distributions over a row's list that its two views give.

    L_i = JS(P_i ‖ Q_i), P_i = σ(S_i / τ1), Q_i = σ(S'_i / τ1).

    `first, second`: S of the anchors to the positives, S' of the positives to the anchors, (B, B) each.
    Returns: Shape (B,), nats, from 0 to ln 2.

    Source: Liu et al. 2023 (RankCSE), the equation of L_consistency.
    """
    logs = [
        (side / temperature).masked_fill(left_out, LEFT_OUT).log_softmax(dim=1) for side in (first, second)
    ]
    middle = torch.logaddexp(*logs) - torch.log(first.new_tensor(2.0))
    divergences = [(log.exp() * (log - middle)).masked_fill(left_out, 0).sum(dim=1) for log in logs]
    return (divergences[0] + divergences[1]) / 2


@dataclass(frozen=True)
class Settings:
    """Keys of ``[ranking]``."""

    form: str = setting("list-net", "`list-net` or `list-mle`", choices=("list-net", "list-mle"))
    vectors: str = vectors_setting("that is the teacher's")
    temperature: float = setting(0.05, "τ2", above=0)
    teacher_temperature: float = setting(0.025, "τ3 of list-net; the authors' code takes half of τ2", above=0)
    own: bool = setting(
        False,
        "whether a row's own positive is in its list. The authors' code leaves it out, so that what "
        "the contrastive loss teaches is not taught again; the paper's equation has it",
    )
    consistency: float = setting(
        0.0, "β, weight of the agreement of a row's two views; 0 leaves it out", minimum=0
    )
    weight: float = setting(1.0, "γ, of this term")


class Ranking(TeacherAddition):
    """γ · ListNet or ListMLE against a teacher's cached similarities, plus γ · β · the views' consistency.

    Both compare the anchors with the positives of the batch. Equal texts stand in no list of each other.

    Source: Liu et al. 2023 (RankCSE), with one teacher.
    """

    settings_class = Settings

    def loss(self, batch: GlobalBatch) -> Tensor:
        assert batch.z is not None
        anchors, positives = F.normalize(batch.z[:, :2], dim=-1).unbind(dim=1)
        student = anchors @ positives.T
        known, known_positives = self.vectors_of(batch.labels, batch.real)
        teacher = (known @ known_positives.T).to(student)
        left_out = ~batch.real[:, None] | ~batch.real
        if batch.mask_equal_texts:
            views = batch.texts[:, :2]
            equal = (views[:, None, :, None] == views[:, None]).any(dim=3).any(dim=2)
            left_out |= equal & ~torch.eye(len(equal), dtype=torch.bool, device=equal.device)
        if not self.settings.own:
            left_out.fill_diagonal_(True)
        if self.settings.form == "list-net":
            temperatures = self.settings.temperature, self.settings.teacher_temperature
            losses = list_net(student, teacher, left_out, *temperatures)
        else:
            losses = list_mle(student, teacher, left_out, self.settings.temperature)
        if self.settings.consistency:
            both = consistency(student, student.T, left_out, batch.temperature)
            losses = losses + self.settings.consistency * both
        return mean_over(losses, batch.real)
