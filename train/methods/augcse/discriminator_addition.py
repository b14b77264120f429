"""AugCSE's discriminator: which augmentation made the second sentence? The encoder learns to hide it."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch, Host, Row, Views, mean_over
from train.data import Ids
from train.recipe import Recipe

_KEY = 0x617567  # keeps these draws apart from others of the same row


def scale_gradient(value: Tensor, factor: float) -> Tensor:
    """The value itself, with its gradient multiplied by α; −1 is a gradient-reversal layer.

    Below 0 the encoder works against the discriminator. The authors' code and Ganin & Lempitsky 2015 have −α.
    """
    still = value.detach()
    return still + factor * (value - still)


def classification_loss(logits: Tensor, classes: Tensor, form: str) -> Tensor:
    """Loss of each row (B,), in nats, of logits (B, C) and right classes (B,).

    `bounded`: binary cross-entropy of tanh(logits) against the one-hot classes, mean over classes; since they
    end at ±1 it is from 0.3133 to 1.3133. `binary`: the same without tanh. `softmax`: cross-entropy.
    """
    if form == "softmax":
        return F.cross_entropy(logits, classes, reduction="none")
    target = F.one_hot(classes, logits.shape[1]).to(logits.dtype)
    bounded = torch.tanh(logits) if form == "bounded" else logits
    return F.binary_cross_entropy_with_logits(bounded, target, reduction="none").mean(dim=1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[discriminator]``."""

    stages: tuple[str, ...] = setting((), "the augmentations. Each row gets one of them, drawn uniformly")
    weight: float = setting(
        5e-3,
        "λ. The paper's best: 5e-3 for BERT and 1e-4 for RoBERTa on STS, 1e-4 and 1e-2 on transfer tasks",
    )
    alpha: float = setting(
        -1.0, "α, what the gradient is multiplied by on its way to the encoder (see `scale_gradient`)"
    )
    target: str = setting(
        "augmentation",
        "`augmentation`: which of the stages, or none. `bool`: augmented or not. `order`: the two "
        "vectors are swapped for half of the rows, and the discriminator says for which; rows without "
        "an augmentation, both of whose sides are the same sentence, are left out",
        choices=("augmentation", "bool", "order"),
    )
    positive: str = setting(
        "self",
        "`self`: the positive is the sentence again, and the augmented one goes to the discriminator "
        "alone, three encodings a row (the paper's method). `augmented`: the augmented sentence is "
        "the positive, two encodings (its variant 'positive')",
        choices=("self", "augmented"),
    )
    redraw: bool = setting(
        False,
        "draw the augmentation anew in each epoch, and read another draw of stages that have several; "
        "the paper found one draw for all epochs better",
    )
    dropout: float = setting(0.2, "in front of both layers")
    form: str = setting(
        "bounded",
        "see `classification_loss`. The code's last tanh, also in the paper's listing, is kept as "
        "default, for it was there when the published numbers came out",
        choices=("bounded", "binary", "softmax"),
    )


class _OneAugmentation(Views):
    """One of the stages for each row; labels: its class, whether the pair is swapped."""

    labels = 2

    def __init__(self, settings: Settings, recipe: Recipe) -> None:
        super().__init__(settings, recipe)
        self.stages = settings.stages
        self.once = () if settings.redraw else settings.stages
        self.count = 1 if settings.positive == "self" else 0

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        generator = self.draws(_KEY, row, self.settings.redraw)
        chosen = int(generator.integers(len(self.stages)))
        swapped = int(generator.integers(2))
        augmented, anchor = row.text(self.stages[chosen]), row.views[0]
        assert anchor is not None
        # Equal also where the two differ only in what was cut off.
        if augmented is None or augmented.tolist() == anchor.tolist():
            chosen, augmented = len(self.stages), anchor
        views = [*row.views, augmented] if self.count else [anchor, augmented, *row.views[2:]]
        return views, [chosen, swapped]


class Discriminator(Addition):
    """λ · loss of naming the augmentation from the two projected vectors, behind a gradient-reversal layer.

    Source: Tang et al. 2022, equation 2 and appendix. The layers are: reversal, dropout, linear (2h to 4h),
    tanh, dropout, linear (4h to K + 1), tanh. The paper's listing gives the last layer h outputs, which
    cannot be its K + 1 classes; K + 1 is what the code has. The loss is the mean over K + 1 classes (the
    paper's K counts "no augmentation" already). The released loader pairs two different augmentations,
    neither being the sentence itself, and stops at a column of another length; this is the paper's procedure.
    """

    settings_class, views_class = Settings, _OneAugmentation
    chooses_positives = True

    def __init__(self, settings: Settings, host: Host) -> None:
        super().__init__(settings, host)
        width = 2 * host.head_dimension
        self.classes = len(settings.stages) + 1 if settings.target == "augmentation" else 2
        self.layers = nn.Sequential(
            nn.Dropout(settings.dropout), nn.Linear(width, 2 * width), nn.Tanh(),
            nn.Dropout(settings.dropout), nn.Linear(2 * width, self.classes),
        )  # fmt: skip

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if not settings.stages:
            return "needs stages, such as --set discriminator.stages=una,uda"
        if settings.positive == "augmented" and recipe.positives != ("self",):
            return 'positive = "augmented" takes the place of positives; leave those at "self"'
        return ""

    def loss(self, batch: GlobalBatch) -> Tensor:
        assert batch.z is not None
        anchor = batch.z[:, 0]
        augmented = batch.z[:, batch.own.start if batch.own.stop > batch.own.start else 1]
        none = len(self.settings.stages)
        chosen, swapped = batch.labels.unbind(1)
        counted, classes = batch.real, chosen
        if self.settings.target == "bool":
            classes = (chosen < none).long()
        elif self.settings.target == "order":
            counted, classes = counted & (chosen < none), swapped
            flip = swapped.bool()[:, None]
            anchor, augmented = (torch.where(flip, augmented, anchor), torch.where(flip, anchor, augmented))
        pairs = scale_gradient(torch.cat([anchor, augmented], dim=1), self.settings.alpha)
        logits = self.layers(pairs)
        # Whether there is anything to hide: the share of rows whose augmentation is named rightly.
        right = mean_over((logits.argmax(dim=1) == classes).to(logits.dtype), counted)
        self.noted = {"accuracy": float(right.detach())}
        return mean_over(classification_loss(logits, classes, self.settings.form), counted)
