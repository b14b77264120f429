"""What a protocol is run with, and where it reports to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Setting:
    """A setting of a protocol, which the command offers as an option `--NAME`.

    Attributes
    ----------
    name : str
        The option without its dashes.
    default : str or bool
        Its value where none is given; False makes the option a switch.
    help : str
        What `--help` says.
    recorded : bool
        Whether encoder.json, the name of the results' folder (where it is not the default) and the rows of
        tables state it, so that scores under different values lie side by side.
    """

    name: str
    default: str | bool
    help: str
    recorded: bool = True


@dataclass(frozen=True)
class Options:
    """Settings of a run that are not the encoder's.

    Attributes
    ----------
    whiten : bool
        Whiten each task's embeddings, fitted on that task's own sentences.
    jobs : int
        Processes for nested cross-validation and the seeds of K-means; no score depends on it.
    cache : pathlib.Path or None
        Folder of the embedding cache; None keeps nothing.
    values : mapping of str to (str or bool)
        Values of the protocols' settings by name; one that is missing has its default.
    queries : callable or None
        Encodes queries, where they are put behind another prompt than what is searched.
    """

    whiten: bool = False
    jobs: int = 1
    cache: Path | None = None
    values: Mapping[str, str | bool] = field(default_factory=dict)
    queries: Callable[[Sequence[str]], np.ndarray] | None = None

    def value(self, setting: Setting) -> str | bool:
        """The value of a protocol's setting."""
        return self.values.get(setting.name, setting.default)


class Progress:
    """Where a run reports to; this one says nothing."""

    def start(self, what: str, total: int) -> None:
        """Begin to count `total` of something."""

    def advance(self, count: int) -> None:
        """Count some of it as done."""
