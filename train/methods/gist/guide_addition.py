"""GISTEmbed's mask: what a guide calls more alike than a row's own pair is no negative of that row."""

from dataclasses import dataclass

import torch
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import GlobalBatch
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting


def too_alike(anchors: Tensor, positives: Tensor, real: Tensor, margin: float) -> Tensor:
    """Which views of other rows a guide calls more alike than a row's own anchor and positive.

    `anchors, positives`: the guide's vectors of each row's two views, (B, d), of length 1; `real`: which rows
    hold a sentence, (B,), bool; `margin` is subtracted from the cosine of the row's own pair. Returns
    (2B, 2B), bool, the anchors first: true where cos(u, v) > cos(anchor i, positive i) − margin, u of row i,
    v of another row j, both real.

    Source: Solatorio 2024 (GISTEmbed), whose mask has no margin.
    """
    views = torch.cat([anchors, positives])
    own = (anchors * positives).sum(dim=1).repeat(2)
    row = torch.arange(len(anchors), device=anchors.device).repeat(2)
    meet = real.repeat(2)
    others = (row[:, None] != row) & meet[:, None] & meet
    return (views @ views.T > (own - margin)[:, None]) & others


@dataclass(frozen=True)
class Settings:
    """Keys of ``[guide]``."""

    vectors: str = vectors_setting("that is the guide's")
    margin: float = setting(
        0.0,
        "pairs more alike than the row's own pair less this are no negatives. With the anchor as its "
        "own positive, whose similarity is 1, nothing is left out unless this is above 0",
        minimum=0,
        maximum=2,
    )


class Guide(TeacherAddition):
    """In-batch pairs that a guide's cached vectors call too alike are no negatives.

    It holds for anchors and positives of different rows. A recipe's own hard negatives stay negatives, and so
    do further ones such as a queue's. Those that a judge calls the same are left out by `where`, a setting of
    the recipe.

    Source: Solatorio 2024 (GISTEmbed).
    """

    settings_class = Settings

    def false_negatives(self, batch: GlobalBatch) -> Tensor:
        anchors, positives = self.vectors_of(batch.labels, batch.real)
        return too_alike(anchors, positives, batch.real, self.settings.margin)
