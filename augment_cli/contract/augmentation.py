"""The descriptor of an augmentation: what it makes, what it reads, its parameters, and the function that runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from augment_cli.contract.rows import Batch, Outcome
from augment_cli.draws import stream_key
from augment_cli.tfidf.term_table import TermTable


@dataclass(frozen=True)
class Resources:
    """What `prepare` may use: the term table where the augmentation asks for it, and the draw's key."""

    seed: int
    draw: int
    terms: TermTable | None = None

    def key(self, purpose: str) -> int:
        """Key of an independent stream of draws for one purpose."""
        return stream_key(self.seed, purpose, self.draw)


class Prepared(Protocol):
    """An augmentation with its parameters and resources: pure, any rows in any order."""

    def __call__(self, batch: Batch) -> Outcome: ...


class PreparedModel(Prepared, Protocol):
    """An augmentation that runs a model; loads it when it is first called."""

    @property
    def splits(self) -> int:
        """How often memory ran out and a batch was cut in halves."""
        ...

    def plan(self, texts: pa.StringArray) -> list[np.ndarray]:
        """Positions of the rows that go through the model together; every row is in one batch."""
        ...

    def use_device(self, device: str) -> None:
        """Which of the devices to run on, as torch names it; before the first call."""
        ...


@dataclass(frozen=True)
class Augmentation:
    """The card of an augmentation; registering it makes the command, its help, the docs and the tests.

    The first line of its file's docstring is its summary.

    Parameters
    ----------
    name : str
        Command, and folder of the stage.
    version : int
        Raised whenever the same input would give another output.
    kind : {"negative", "positive"}
        Whether the result means something else (hard negative) or the same (positive).
    paper : str
        Where it comes from.
    needs : frozenset of {"tfidf", "parses", "model"}
        Earlier stages it reads; they come as `Batch.tokens` and `Batch.parses`. One that needs a model
        returns a `PreparedModel`, and is run batch by batch with a journal.
    parameters : type
        A frozen dataclass whose fields are made with `parameter`.
    prepare : callable
        (parameters, resources) to a function from `Batch` to `Outcome`.
    columns : tuple of pyarrow.Field
        Columns of its own beside row_id, text, reason and edits.
    resolve : callable
        (parameters, resources) to the JSON values that the result depends on: word lists by digest,
        shares as counts. The default takes the parameters as they are.
    warnings : callable
        (parameters, resources) to lines a person should read before the run.
    uses : callable
        (parameters, resources) to the digests or versions of models that the result depends on.
    libraries : tuple of str
        Distributions, beside numpy and pyarrow, whose versions decide the result.
    pin : callable
        Parameters with what depends on the machine, such as `auto`, made explicit; the same for all
        workers, and part of the settings.
    examples : tuple of str
        Command lines for the help.
    is_random : bool
        Whether the result depends on the seed with the default parameters; if not, further draws would be
        copies. (`dn --mode v3` draws, the default of `dn` does not.)
    meaning : {"kept", "possibly altered", "altered"}, optional
        What the augmentation is declared to do to the meaning, the three classes of AugCSE; where it
        is not given, a negative counts as altered and a positive as kept.
    """

    name: str
    version: int
    kind: Literal["negative", "positive"]
    paper: str
    needs: frozenset[str]
    parameters: type
    prepare: Callable[[Any, Resources], Prepared]
    columns: tuple[pa.Field, ...] = ()
    resolve: Callable[[Any, Resources], dict[str, Any]] = lambda parameters, resources: dataclasses.asdict(
        parameters
    )
    warnings: Callable[[Any, Resources], list[str]] = lambda parameters, resources: []
    uses: Callable[[Any, Resources], dict[str, str]] = lambda parameters, resources: {}
    libraries: tuple[str, ...] = ()
    pin: Callable[[Any], Any] = lambda parameters: parameters
    examples: tuple[str, ...] = ()
    is_random: bool = True
    meaning: Literal["kept", "possibly altered", "altered"] | None = None


def meaning_of(card: Augmentation) -> str:
    """The declared class of an augmentation: meaning kept, possibly altered, or altered."""
    return card.meaning or ("altered" if card.kind == "negative" else "kept")
