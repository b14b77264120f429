"""The numbers on disk: one small JSON file for each (training, evaluation), complete or not there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError

TRAINING = "training"  # the evaluation that is none: what the training itself said


@dataclass(frozen=True)
class Result:
    """What one evaluation of one trained encoder found.

    Attributes
    ----------
    row, seed
        Which training, in words; what decides is `key` and `data`.
    evaluation
        `training`, or a name of the grid's evaluations.
    key
        Digest of recipe, settings, seed and encoder.
    data
        Digest of each stage that was read, the corpus among them.
    scores
        Numbers by name.
    made
        Versions and machine, for the reader; nothing is decided by it.
    """

    row: str
    seed: int
    evaluation: str
    key: str
    data: dict[str, str]
    scores: dict[str, Any]
    made: dict[str, Any]

    def agrees(self, data: dict[str, str | None]) -> bool:
        """Whether it comes from these stages; those that are None, being not made here, are not asked."""
        return self.data.keys() == data.keys() and all(
            digest is None or self.data[name] == digest for name, digest in data.items()
        )


class Results:
    """A folder of results, one sub-folder a profile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: dict[tuple[str, str], Result] = {}
        self.read()

    def read(self) -> None:
        """Read the folder again."""
        self._found = {}
        for path in sorted(self.folder.glob("*.json")):
            try:
                result = Result(**json.loads(path.read_text(encoding="utf-8")))
            except (ValueError, TypeError) as error:
                raise BadInputError(f"{path} is no result ({error}); delete it, it is made again") from error
            self._found[result.key, result.evaluation] = result

    def find(self, key: str, evaluation: str, data: dict[str, str | None]) -> Result | None:
        """The result of that training and evaluation, if it is there and comes from these stages."""
        found = self._found.get((key, evaluation))
        return found if found is not None and found.agrees(data) else None

    def write(self, result: Result) -> Path:
        """Add a result; a crash leaves the file complete or not there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{result.row}-{result.seed}-{result.key}-{result.evaluation}.json"
        work = path.with_name(f".{path.name}.{os.getpid()}")
        work.write_text(json.dumps(vars(result), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        work.replace(path)
        self._found[result.key, result.evaluation] = result
        return path
