"""MODALS' augmentations of embeddings: interpolation, extrapolation, linear difference, Gaussian noise."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch


@dataclass(frozen=True)
class Settings:
    """Keys of ``[latent_augmentation]``."""

    kind: str = setting(
        "interpolation",
        "what becomes of an embedding z: `interpolation` z + λ(q − z), q being one of a sample of the "
        "pool; `extrapolation` z + λ(z − μ); `linear` z + λ(q₁ − q₂) with two random members of the "
        "pool; `gaussian` z + λ σ ⊙ ε with ε normal",
        choices=("interpolation", "extrapolation", "linear", "gaussian"),
    )
    strength: float = setting(
        0.2, "λ, 0 to 1. UNA's comparison does not say which; try 0.1, 0.2, 0.3, 0.5", minimum=0, maximum=1
    )
    sample: float = setting(
        0.05, "share of the pool that interpolation looks at, at least one member", above=0, maximum=1
    )
    choice: str = setting(
        "closest",
        "which of the sample it takes, by the cosine of centred vectors: `closest` (the paper, and "
        "the default: what lies between two like sentences may still mean the same) or `farthest` "
        "(the authors' code, whose arg max is of 1 − cosine)",
        choices=("closest", "farthest"),
    )


def augment(z: Tensor, real: Tensor, settings: Settings) -> Tensor:
    """Augment each embedding z (B, d) by means of the others; the gradient takes the way through z alone.

    `real`: which rows are not padding, (B,), bool: they alone are the pool and give μ and σ. A row is not a
    member of its own pool; without any other it stays as it is.

    Source: Cheung & Yeung 2021 (MODALS). Pool, μ and σ are those of a class in the paper; without labels
    they are the batch's, and without a loss of each pool member the sample is drawn uniformly.
    """
    pool, weight = z.detach(), settings.strength
    count = real.sum().clamp(min=1)
    mean = (pool * real[:, None]).sum(0) / count
    if settings.kind == "extrapolation":
        return z + weight * (z - mean)
    if settings.kind == "gaussian":
        variance = ((pool - mean).square() * real[:, None]).sum(0) / count
        return z + weight * variance.sqrt() * torch.randn_like(pool)
    # Others in random order, each row its own; what may not be drawn comes last.
    allowed = real[None, :] & ~torch.eye(len(z), dtype=torch.bool, device=z.device)
    order = torch.where(allowed, torch.rand_like(pool @ pool.T), 2.0).argsort(dim=1)
    some = allowed.any(dim=1, keepdim=True)
    if settings.kind == "linear":
        last = (allowed.sum(1) - 1).clamp(0, 1)  # the second member is the first where there is one alone
        first, second = pool[order[:, 0]], pool[order.gather(1, last[:, None])[:, 0]]
        return z + weight * torch.where(some, first - second, 0.0)
    size = max(1, round(settings.sample * int(count)))
    chosen = order[:, :size]
    centred = F.normalize(pool - mean, dim=1)
    likeness = torch.einsum("bd,bsd->bs", centred, centred[chosen])
    if settings.choice == "farthest":
        likeness = -likeness
    likeness = likeness.masked_fill(~allowed.gather(1, chosen), float("-inf"))
    nearest = pool[chosen.gather(1, likeness.argmax(dim=1, keepdim=True))[:, 0]]
    return z + weight * torch.where(some, nearest - z, 0.0)


class LatentAugmentation(Addition):
    """Changes the positive's embedding, between pooling and head.

    Source: Cheung & Yeung 2021 (MODALS); UNA (Shu & Lampos 2024) compares with it.
    """

    settings_class = Settings

    def change(self, batch: GlobalBatch) -> Tensor:
        views = list(batch.embeddings.unbind(1))
        views[1] = augment(views[1], batch.real, self.settings)
        return torch.stack(views, dim=1)
