"""VaSCL: each sentence against its neighbours in the batch, made hard by a virtual augmentation."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, GlobalBatch, mean_over
from train.data import NO_TEXT
from train.recipe import Recipe

Head = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Neighbours:
    """The neighbourhood N(i) of each row."""

    index: Tensor  # rows, nearest first, shape (B, K), int64
    valid: Tensor  # false where a row has fewer than K others, shape (B, K), bool


def neighbours(embeddings: Tensor, texts: Tensor, count: int, mask_equal_texts: bool = True) -> Neighbours:
    """The rows of largest inner product, the row itself left out.

    `embeddings`: First view, before the head and not normalised, shape (B, d); `texts`: Text ids, shape (B,);
    padding is never a neighbour; `count`: K; at most B − 1 are found; `mask_equal_texts`: Whether equal texts
    are left out of each other's neighbours.

    Source: Zhang et al. 2022 ("top-K similarity"); that it is the raw inner product of the first dropout view
    is from the authors' code.
    """
    similar = embeddings.detach() @ embeddings.detach().T
    excluded = (texts == NO_TEXT)[None, :] | (texts == NO_TEXT)[:, None]
    excluded = excluded | torch.eye(len(texts), dtype=torch.bool, device=texts.device)
    if mask_equal_texts:
        excluded = excluded | (texts[:, None] == texts[None, :])
    values, index = similar.masked_fill(excluded, float("-inf")).topk(min(count, len(texts) - 1))
    return Neighbours(index, torch.isfinite(values))


def towards_neighbours(clean: Tensor, moved: Tensor, near: Neighbours, temperature: float) -> Tensor:
    """Loss ℓ_N of each perturbed sentence: find its clean self among its clean neighbours.

    `clean, moved`: z and z^δ, (B, h). Returns: (B,), nats, at least 0; row i depends on no other of `moved`.

    Source: the uni-directional loss of Zhang et al. 2022. The positive stays in the denominator.
    """
    clean, moved = F.normalize(clean, dim=-1), F.normalize(moved, dim=-1)
    return _against(moved, clean, [clean], near, temperature)


def both_ways(clean: Tensor, moved: Tensor, near: Neighbours, temperature: float) -> Tensor:
    """Mean of two losses: z finds z*, and z* finds z, each among the K neighbours and their K augmentations.

    `clean, moved`: z and z* = z^δ*; shapes as of `towards_neighbours`.

    Source: Zhang et al. 2022, equation 6, whose mean over 2B rows is the mean of this over B.
    """
    clean, moved = F.normalize(clean, dim=-1), F.normalize(moved, dim=-1)
    forth = _against(clean, moved, [clean, moved], near, temperature)
    return (forth + _against(moved, clean, [clean, moved], near, temperature)) / 2


def _against(
    rows: Tensor, positives: Tensor, others: list[Tensor], near: Neighbours, temperature: float
) -> Tensor:
    right = (rows * positives).sum(dim=-1, keepdim=True)
    wrong = [torch.einsum("bh,bkh->bk", rows, other[near.index]) for other in others]
    wrong = [value.masked_fill(~near.valid, float("-inf")) for value in wrong]
    logits = torch.cat([right, *wrong], dim=1) / temperature
    first = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    return F.cross_entropy(logits, first, reduction="none")


def ascend(
    head: Head, embeddings: Tensor, near: Neighbours, temperature: float, settings: "Settings"
) -> Tensor:
    """δ*: a perturbation of each embedding that raises its ℓ_N, found by gradient steps on δ alone.

    `head` maps embeddings to the space of the loss; `embeddings`: e, shape (B, d); `near`: N(i) of each row.
    Returns shape (B, d), without gradient; of length Δ with `ascent = "normalised"`, of at most Δ with
    "projected"; where the gradient is zero, δ stays. The authors' code adds 1e-8 to the gradient's length,
    which may itself be as short as that: here the length is exact.
    """
    e = embeddings.detach()
    with torch.no_grad():
        clean = head(e)
    start = torch.randn_like(e) if settings.start == "gaussian" else torch.rand_like(e) - 0.5
    delta = settings.radius * _unit(start)
    for _ in range(settings.steps):
        delta.requires_grad_()
        with torch.enable_grad():
            losses = towards_neighbours(clean, head(e + delta), near, temperature)
            (gradient,) = torch.autograd.grad(losses.sum(), delta)
        delta, direction = delta.detach(), _unit(gradient)
        if settings.ascent == "normalised":
            still = (direction == 0).all(dim=-1, keepdim=True)
            delta = torch.where(still, delta, settings.radius * direction)
        else:
            delta = delta + settings.step_size * settings.radius * direction
            length = delta.norm(dim=-1, keepdim=True)
            delta = delta * (settings.radius / length.clamp(min=settings.radius))
    return delta


def _unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1 in the same directions, zero where they are zero; however short they were."""
    largest = vectors.abs().amax(dim=-1, keepdim=True)  # squares of short vectors would underflow
    return F.normalize(vectors / torch.where(largest > 0, largest, 1.0), dim=-1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[neighbourhood]``."""

    neighbours: int = setting(
        16, "K, at most batch − 1. The paper names no number, the code has 16 (at batch 1,024)", minimum=1
    )
    radius: float = setting(
        15.0, "Δ, the length of δ: 15 for DistilRoBERTa and RoBERTa-base, 30 for RoBERTa-large", above=0
    )
    steps: int = setting(1, "gradient steps on δ", minimum=0)
    start: str = setting(
        "gaussian",
        "direction in which δ starts: `gaussian` (the paper, and the default: isotropic) or `uniform` "
        "(the code: each component from −0.5 to 0.5, which favours the cube's corners)",
        choices=("gaussian", "uniform"),
    )
    ascent: str = setting(
        "normalised",
        "`normalised` (the code, and what the published numbers come from): δ = Δ · g / ‖g‖ with the "
        "gradient g at the δ before, of which only the direction is kept. `projected` (the paper's "
        "arg max over ‖δ‖ ≤ Δ, by projected gradient ascent): δ moves by `step_size` · Δ along g and "
        "is pulled back into the ball",
        choices=("normalised", "projected"),
    )
    step_size: float = setting(0.25, "of the projected ascent, as a share of Δ", above=0)
    gradient: str = setting(
        "head_perturbed",
        "what the bidirectional loss trains. `head_perturbed` (the code, and what the published "
        "numbers come from): the head, through the perturbed side alone; embeddings and clean side "
        "are constants, and the encoder learns from it only by way of the head. `head_both`: the head "
        "through both sides. `full` (as equation 6 reads): encoder and head through both sides",
        choices=("head_perturbed", "head_both", "full"),
    )
    weight: float = setting(1.0, "of the bidirectional loss beside the host's; 1 in the paper")


class Neighbourhood(Addition):
    """The neighbourhood-constrained loss with virtual augmentation.

    Source: Zhang et al. 2022, equation 6. The authors' code finds the neighbours in each replica and looks
    them up in the concatenated batch, which on several GPUs are other sentences; here both are the gathered
    batch. A head with batch norm would make rows depend on each other's δ and is refused.
    """

    settings_class = Settings

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if settings.neighbours >= recipe.batch:
            return f"neighbours = {settings.neighbours} must be at most batch − 1 = {recipe.batch - 1}"
        if recipe.head == "batch-norm":
            return 'does not go with head "batch-norm", whose rows depend on each other'
        return ""

    def loss(self, batch: GlobalBatch) -> Tensor:
        settings: Settings = self.settings
        first, texts = batch.embeddings[:, 0], batch.texts[:, 0]
        near = neighbours(first, texts, settings.neighbours, batch.mask_equal_texts)
        delta = ascend(batch.head, first, near, batch.temperature, settings)
        source = first if settings.gradient == "full" else first.detach()
        moved = batch.head(source + delta)
        with torch.set_grad_enabled(torch.is_grad_enabled() and settings.gradient != "head_perturbed"):
            clean = batch.head(source)
        return mean_over(both_ways(clean, moved, near, batch.temperature), batch.real)
