"""EfficientCL's PCA jitter: noise along the principal directions of a sentence's own hidden states."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.contract.parameters import parameter as setting
from augment_cli.errors import UsageError
from train.additions.base import Addition, Host
from train.data.padding import Slice
from train.model import known_layers
from train.recipe import Recipe

_KEY = 0x706361  # keeps these draws apart from others of the same step
_COMPONENTS = 64  # principal directions that get a draw of their own; a sentence of n tokens has at most n


@dataclass(frozen=True)
class Settings:
    """Keys of ``[pca_jitter]``."""

    layer: int = setting(6, "after which layer; 0 is the embedding layer")
    level: float = setting(
        1.0,
        "σ = 0.01 · level, the standard deviation of α, with `schedule = 'constant'`; the others set it",
        minimum=0,
    )
    schedule: str = setting(
        "stepwise",
        "`stepwise` (the paper's): levels 1, 2, … 10 in ten equal stretches of the run. `continuous` "
        "(the paper's too): σ = 0.01 + 0.1 · progress of the run. `random` (its comparison without a "
        "curriculum): one of 1 to 10 in each step. `constant`: always `level`",
        choices=("constant", "stepwise", "random", "continuous"),
    )
    draws: str = setting(
        "one",
        "`one` α for all directions of a sentence (the authors'), or `each` its own (as in Krizhevsky "
        "et al. 2012, where the idea is from)",
        choices=("one", "each"),
    )
    noise: str = setting(
        "vector",
        "`vector`: Σ α λ v is added to each token (the paper's idea, and the default: it moves along "
        "the components). `scalar`: the sum of its components is added to every number (the code, "
        "which besides takes rows of the matrix of eigenvectors for its columns), and so moves in one "
        "and the same direction whatever they are",
        choices=("vector", "scalar"),
    )


def jitter(hidden: Tensor, mask: Tensor, alpha: Tensor, noise: str = "vector") -> Tensor:
    """Add noise along principal directions, α λ v summed over the eigenpairs (λ, v) of the covariance.

    `hidden`: H of each sentence, shape (n, tokens, d); `mask`: 1 for a token, 0 for padding, shape
    (n, tokens); `alpha`: α of the k-th largest eigenvalue of each sentence, shape (n, at least tokens), or
    (n, 1) for one α. Returns shape (n, tokens, d); padding is unchanged; the noise has no gradient.

    H is divided by its Frobenius norm and each of its d columns centred, giving X; the covariance is
    XᵀX / (tokens − 1). Its eigenvectors are found by way of XXᵀ, which has the same eigenvalues apart from
    zeros. Their sign is arbitrary, so that of the component of largest absolute value is made positive.
    α = 0.1, one standard deviation at level 10, adds 0.7 to 0.8 % of the norm of H in the shipped encoder.

    Source: Ye et al. 2021 (EfficientCL); its code jitters before layers of its own, never trained, and here
    the states go on through the encoder's.
    """
    with torch.no_grad():
        present = mask.to(hidden.dtype)[..., None]
        count = present.sum(dim=(1, 2))
        known = hidden * present
        norm = known.square().sum(dim=(1, 2)).sqrt().clamp(min=1e-12)[:, None, None]
        known = known / norm
        mean = known.sum(dim=1, keepdim=True) / count.clamp(min=1)[:, None, None]
        X = (known - mean) * present
        freedom = (count - 1).clamp(min=1)[:, None, None]
        values, vectors = torch.linalg.eigh(X @ X.transpose(1, 2) / freedom)
        values, vectors = values.flip(1).clamp(min=0), vectors.flip(2)
        # Xᵀu has length √(λ · (tokens − 1)), so λv is Xᵀu · √(λ / (tokens − 1)), and no zero divides.
        scaled = X.transpose(1, 2) @ vectors * (values[:, None] / freedom).sqrt()  # (n, d, tokens): λv
        largest = scaled.gather(1, scaled.abs().argmax(dim=1, keepdim=True))
        scaled = scaled * torch.where(largest < 0, -1.0, 1.0).to(scaled.dtype)
        added = (scaled * alpha[:, None, : scaled.shape[2]]).sum(dim=2)  # (n, d)
        if noise == "scalar":
            added = added.sum(dim=1, keepdim=True)
        added = norm * added[:, None] * present
    return hidden + added


class PcaJitter(Addition):
    """Jitters the positives' hidden states after one layer. Draws do not depend on the number of ranks."""

    settings_class = Settings

    def __init__(self, settings: Settings, host: Host) -> None:
        super().__init__(settings, host)
        self.seed, self.batch = host.recipe.seed, host.recipe.batch
        layer_module(host.encoder, settings.layer)  # says now what is wrong

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if recipe.machine.compile:
            return "changes hidden states, which does not go with compile"
        return ""

    def sigma(self, step: int, generator: np.random.Generator) -> float:
        """Standard deviation of α in a step, from 0; the schedule ``random`` draws its level."""
        progress = step / max(1, self.steps)
        levels = {
            "constant": self.settings.level,
            "stepwise": 1.0 + min(9, int(10 * progress)),
            "random": float(generator.integers(1, 11)),
            "continuous": 1.0 + 10.0 * progress,
        }
        return 0.01 * levels[self.settings.schedule]

    def alpha(self, step: int) -> np.ndarray:
        """α of every row of the global batch, shape (B, components), or (B, 1) where all have the same."""
        generator = np.random.default_rng([_KEY, self.seed, step])
        sigma = self.sigma(step, generator)
        draws = generator.normal(0.0, sigma, (self.batch, _COMPONENTS))
        return draws if self.settings.draws == "each" else draws[:, :1]

    @contextlib.contextmanager
    def encoding(self, model: Host, item: Slice, rows: Tensor, views: Tensor, step: int) -> Iterator[None]:
        alpha = torch.from_numpy(self.alpha(step)).to(item.ids.device)[rows] * (views == 1)[:, None]
        if alpha.shape[1] > 1:
            alpha = F.pad(alpha, (0, max(0, item.ids.shape[1] - _COMPONENTS)))

        def change(module: nn.Module, inputs: Any, output: Any) -> Any:
            hidden = output[0] if isinstance(output, tuple) else output
            exact = hidden if hidden.dtype == torch.float64 else hidden.float()
            changed = jitter(exact, item.mask, alpha.to(exact.dtype), self.settings.noise).to(hidden.dtype)
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        handle = layer_module(model.encoder, self.settings.layer).register_forward_hook(change)
        try:
            yield
        finally:
            handle.remove()


def layer_module(encoder: nn.Module, layer: int) -> nn.Module:
    """The module whose output is the hidden state after a layer; 0 is the embedding layer."""
    layers = known_layers(encoder)
    if not layers:
        raise UsageError(
            f"[pca_jitter] knows BERT's, RoBERTa's and DistilBERT's layers, not {type(encoder)}'s"
        )
    if not 0 <= layer < len(layers):
        raise UsageError(f"[pca_jitter] layer = {layer}: this encoder has layers 0 to {len(layers) - 1}")
    return layers[layer]
