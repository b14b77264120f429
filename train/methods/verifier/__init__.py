"""A verifier: a small network beside an encoder that says where one text turns what another says."""

from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.errors import UsageError


@dataclass(frozen=True)
class Settings:
    """How to train a verifier."""

    rows: int = parameter(
        6_000, "sentences whose texts are read, drawn evenly (0: all); 0.6 GB of memory for 1,000", minimum=0
    )
    steps: int = parameter(2_000, "steps", minimum=1)
    batch: int = parameter(64, "pairs of a step, half of them turned", minimum=2)
    learning_rate: float = parameter(2e-3, "highest learning rate", above=0)
    held_out: float = parameter(0.05, "share of the rows that are asked at the end", above=0, maximum=0.5)
    width: int = parameter(112, "of the network's layers, a multiple of 4", minimum=4)
    blocks: int = parameter(2, "of attention", minimum=1)
    networks: int = parameter(2, "networks that are trained one after the other and averaged", minimum=1)
    penalty: float = parameter(0.6, "taken from the cosine of a pair that is certainly turned", above=0)
    seed: int = parameter(42, "of all draws", minimum=0)

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.width % 4:
            raise UsageError(f"--width {self.width}: must be a multiple of 4")
