"""GCSE's decay: a hard negative that a frozen encoder finds as alike as the trained one counts less."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train import components
from train.additions.base import GlobalBatch
from train.data import NO_TEXT
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting
from train.recipe import Recipe


def decayed(cosines: Tensor, known: Tensor, width: float, one_sided: bool) -> Tensor:
    """What a hard negative's cosine loses: G(s, s', σ) − s = −s · exp(−(s − s')² / (2σ²)).

    Where the cosine s equals s', the frozen encoder's, the negative's logit becomes 0 and it teaches hardly
    anything; as training takes s away from s', it comes back.

    `cosines, known`: s and s' of the same pairs, any shape; `width`: σ, in cosines, above 0; `one_sided`: a
    pair that is more alike than the frozen encoder says (s > s') loses nothing. No gradient passes.

    Source: Lai et al. 2025 (GCSE); one-sided and without a gradient, as in its authors' code.
    """
    difference = cosines.detach() - known
    loss = -cosines.detach() * torch.exp(-(difference**2) / (2 * width**2))
    return loss.masked_fill(difference > 0, 0) if one_sided else loss


@dataclass(frozen=True)
class Settings:
    """Keys of ``[decay]``."""

    vectors: str = vectors_setting("of the frozen encoder, of the corpus and each stage of negatives")
    width: float = setting(0.1, "σ, in cosines", above=0)
    one_sided: bool = setting(True, "as the authors' code; false: as the paper's equation")


class Decay(TeacherAddition):
    """The recipe's hard-negative columns lose the part of their logit that a frozen encoder explains.

    Source: Lai et al. 2025 (GCSE). Its hard negatives are written by a language model; here they are those
    of any stage.
    """

    settings_class = Settings

    @classmethod
    def columns_of(cls, recipe: Recipe) -> tuple[str, ...]:
        return recipe.negatives

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if not recipe.negatives or components.layout(recipe.loss) != "columns":
            return "needs negatives, and a loss that takes them as columns, such as info-nce"
        return ""

    def logit_bias(self, batch: GlobalBatch, views: int) -> Tensor:
        assert batch.z is not None
        row_ids, _, epochs = batch.labels.split(1, dim=1)
        logit_bias = batch.z.new_zeros(len(batch.texts), views - 2)
        for column in range(views - 2):
            there = batch.real & (batch.texts[:, 2 + column] != NO_TEXT)
            labels = torch.cat([row_ids, torch.full_like(row_ids, column), epochs], dim=1)
            anchors, negatives = self.vectors_of(labels, there)
            known = (anchors * negatives).sum(dim=1).to(logit_bias)
            cosines = F.cosine_similarity(batch.z[:, 0], batch.z[:, 2 + column])
            lost = decayed(cosines, known, self.settings.width, self.settings.one_sided)
            logit_bias[:, column] = (lost / batch.temperature).masked_fill(~there, 0)
        return logit_bias
