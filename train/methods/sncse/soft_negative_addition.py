"""SNCSE's soft negatives: a negated sentence is less like the sentence than its positive, not much less."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch, Row, Views, mean_over
from train.data import NO_TEXT, Ids
from train.recipe import Recipe


def bidirectional_margin(
    anchors: Tensor, positives: Tensor, soft: Tensor, least: float, most: float
) -> Tensor:
    """Loss of each row, max(0, Δ + α) + max(0, −Δ − β) with Δ = cos(anchor, soft) − cos(anchor, positive).

    `anchors, positives, soft`: Shape (B, h) each; scaled to length 1 here; `least, most`: α and β: the soft
    negative should be less like the anchor than the positive, by α at least and by β at most. Returns: Shape
    (B,), at least 0; zero where −β ≤ Δ ≤ −α.

    Source: Wang et al. 2022 (SNCSE), the bidirectional margin loss.
    """
    difference = F.cosine_similarity(anchors, soft) - F.cosine_similarity(anchors, positives)
    return F.relu(difference + least) + F.relu(-difference - most)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[soft_negative]``."""

    stage: str = setting("", "the soft negatives; rows without one have none")
    least: float = setting(0.1, "α: less like the anchor than the positive by at least this")
    most: float = setting(0.3, "β: and by this at most")
    weight: float = setting(1e-3, "λ: 1e-3 for BERT-base, 5e-4 for RoBERTa-base")


class _SoftNegatives(Views):
    count = 1

    def __init__(self, settings: Settings, recipe: Recipe) -> None:
        super().__init__(settings, recipe)
        self.stages = (settings.stage,)

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        soft, anchor = row.text(self.stages[0]), row.views[0]
        assert anchor is not None
        # One that differs only in what was cut off is the sentence itself; no margin should part them.
        same = soft is not None and soft.tolist() == anchor.tolist()
        return [*row.views, None if same else soft], []


class SoftNegative(Addition):
    """λ · bidirectional margin loss; the contrastive loss does not see the soft negatives.

    SNCSE's prompt, whose [MASK] it takes as the embedding, is not part of this: any pooling does.

    Source: Wang et al. 2022 (SNCSE), and its authors' code.
    """

    settings_class, views_class = Settings, _SoftNegatives

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if not settings.stage:
            return "needs a stage, such as --set soft_negative.stage=dn"
        return "" if settings.least <= settings.most else "least must not be above most"

    def loss(self, batch: GlobalBatch) -> Tensor:
        assert batch.z is not None
        soft, has_soft = batch.z[:, batch.own.start], batch.texts[:, batch.own.start] != NO_TEXT
        # A row without a soft negative has a zero vector in its place, which has no direction to learn from.
        soft = torch.where(has_soft[:, None], soft, batch.z[:, 1].detach())
        losses = bidirectional_margin(
            batch.z[:, 0], batch.z[:, 1], soft, self.settings.least, self.settings.most
        )
        return mean_over(losses, has_soft)
