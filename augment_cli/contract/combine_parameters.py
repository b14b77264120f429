"""How sets of vectors are combined; `augment_cli/vectors/combine.py` does so."""

from __future__ import annotations

from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.errors import UsageError

AUTO = "auto"
_HEAVIEST = 1e6  # a weight whose squares single precision still adds up


@dataclass(frozen=True)
class CombineParameters:
    """How to combine."""

    weights: str = parameter(
        "1", "of the sets in their order, separated by commas; the last one holds for those that follow"
    )
    lexical: float = parameter(
        0.5,
        "weight of the sentences' TF-IDF vectors, cut to their largest directions; 0: none",
        minimum=0,
        maximum=_HEAVIEST,
    )
    components: int = parameter(
        100, "directions that are kept of the TF-IDF vectors (latent semantic analysis)", minimum=2
    )
    neighbours: int = parameter(
        10, "number of nearest vectors to whose mean each one is moved", minimum=1, maximum=1_000
    )
    rounds: int = parameter(2, "how many times that is done; 0: never", minimum=0, maximum=20)
    keep: str = parameter(
        AUTO,
        "weight of the first set as it was, beside the result: a number, or `auto`, from 0 where "
        "the sentences' words confirm its neighbourhoods to 10 where they do not; 0 with `--lexical 0`",
    )

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.kept is not None and not 0 <= self.kept <= _HEAVIEST:
            raise UsageError(f"--keep {self.keep}: must be auto or a number from 0 to {_HEAVIEST:,.0f}")

    @property
    def kept(self) -> float | None:
        """The weight of the first set as it was; None: the corpus decides. NaN where it is not a number."""
        try:
            if self.keep == AUTO:
                return None if self.lexical else 0.0
            return float(self.keep)
        except ValueError:
            return float("nan")

    def weights_of(self, count: int) -> list[float]:
        """A weight for each of `count` sets, the last one repeated; `UsageError` where they make no sense."""
        try:
            weights = [float(word) for word in self.weights.split(",")]
        except ValueError:
            weights = []
        if not weights or len(weights) > count or not all(0 < weight <= _HEAVIEST for weight in weights):
            raise UsageError(
                f"--weights {self.weights}: must be 1 to {count} numbers above 0, to {_HEAVIEST:,.0f}, "
                "separated by commas, one for each set of vectors"
            )
        return weights + weights[-1:] * (count - len(weights))
