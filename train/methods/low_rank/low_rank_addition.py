"""Low-rank adapters: of each linear layer a small difference is trained, and its own weights stay."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.utils import parametrize

from augment_cli.contract.parameters import parameter as setting
from augment_cli.errors import UsageError
from train.additions.base import Addition, Host


@dataclass(frozen=True)
class Settings:
    """Keys of ``[low_rank]``."""

    rank: int = setting(8, "r, of the difference of each linear layer", minimum=1)
    scale: float = setting(2.0, "multiplies the difference, α / r in the paper", above=0)


class _Difference(nn.Module):
    """W becomes W + s B A, where B is zero at first."""

    def __init__(self, weight: Tensor, settings: Settings) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.scale = settings.scale
        self.inner = nn.Parameter(weight.new_empty(settings.rank, columns))
        self.outer = nn.Parameter(weight.new_zeros(rows, settings.rank))
        nn.init.kaiming_uniform_(self.inner, a=5**0.5)

    def forward(self, weight: Tensor) -> Tensor:
        """The layer's weights, (rows, columns)."""
        return weight + self.scale * self.outer @ self.inner


class LowRank(Addition):
    """Of the encoder's parameters only low-rank differences of its linear layers are trained.

    They take a small part of the memory that gradients and moments of all weights take, and another learning
    rate: ten times that of full training is a beginning. What is exported is the sum, a usual encoder.

    Source: Hu et al. 2022 (LoRA), equation 3; here of all linear layers.
    """

    settings_class = Settings

    def __init__(self, settings: Any, host: Host) -> None:
        super().__init__(settings, host)
        # BERT's pooler comes after every pooling, and learns nothing.
        named = host.encoder.named_modules()
        layers = [one for name, one in named if isinstance(one, nn.Linear) and not name.startswith("pooler.")]
        if not layers:
            raise UsageError("low_rank: this encoder has no linear layers; leave [low_rank] out")
        host.encoder.requires_grad_(False)
        for layer in layers:
            parametrize.register_parametrization(layer, "weight", _Difference(layer.weight, settings))
