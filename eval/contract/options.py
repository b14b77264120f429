"""What a protocol is run with, and where it reports to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Encode = Callable[[Sequence[str]], np.ndarray]  # n strings in, vectors of shape (n, d) out


@dataclass(frozen=True)
class Setting:
    """A setting of a protocol, which the command offers as an option `--NAME`."""

    name: str  # the option without its dashes
    default: str | bool  # False makes the option a switch
    help: str  # what `--help` says
    # Whether encoder.json, the name of the results' folder (where it is not the default) and the rows of
    # tables state it, so that scores under different values lie side by side.
    recorded: bool = True


@dataclass(frozen=True)
class Options:
    """Settings of a run that are not the encoder's."""

    whiten: bool = False  # whiten each task's embeddings, fitted on that task's own sentences
    jobs: int = 1  # processes for nested cross-validation and the seeds of K-means; no score depends on it
    cache: Path | None = None  # folder of the embedding cache; None keeps nothing
    values: Mapping[str, str | bool] = field(default_factory=dict)  # of protocols' settings, by name
    queries: Encode | None = None  # where queries are put behind another prompt than what is searched

    def value(self, setting: Setting) -> str | bool:
        """The value of a protocol's setting."""
        return self.values.get(setting.name, setting.default)


class Progress:
    """Where a run reports to; this one says nothing."""

    def start(self, what: str, total: int) -> None:
        """Begin to count `total` of something."""

    def advance(self, count: int) -> None:
        """Count some of it as done."""
