"""The numbers on disk: a file per profile with a line for each training and evaluation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError
from augment_cli.store.files import hold_lock, write_atomically

TRAINING = "training"  # stands for an evaluation: what the training itself reported
SCORED = "sts"  # the evaluation of the test sets


@dataclass(frozen=True)
class Result:
    """The scores of one evaluation of one trained encoder."""

    row: str  # the grid's row; for the reader, as `key` and `data` decide what a result is worth
    seed: int  # the training's seed; for the reader too
    evaluation: str  # `training` or `sts`
    key: str  # digest of recipe, settings, seed and encoder, 12 hexadecimal digits
    data: dict[str, str]  # digest of each stage that was read, the corpus among them
    # numbers by name; in place of them `failed` with the reason, where a training failed
    scores: dict[str, Any]
    made: dict[str, Any]  # library versions, machine and profile; for the reader, nothing depends on them

    def agrees(self, data: dict[str, str | None]) -> bool:
        """Whether it comes from these stages; a stage that is None is not made here and cannot contradict."""
        return self.data.keys() == data.keys() and all(
            digest is None or self.data[name] == digest for name, digest in data.items()
        )


class Results:
    """The results of a profile, as they are in its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[tuple[str, str], Result] = {}
        self.read()

    def read(self) -> None:
        """Read the file again."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        results = [_parse(line, f"{self.path}, line {number}") for number, line in enumerate(lines, 1)]
        self._results = {(result.key, result.evaluation): result for result in results}

    def find(self, key: str, evaluation: str, data: dict[str, str | None]) -> Result | None:
        """The result of that training and evaluation, if it is there and comes from these stages."""
        result = self._results.get((key, evaluation))
        return result if result is not None and result.agrees(data) else None

    def write(self, result: Result) -> None:
        """Add a result, or put it in the place of an older one of the same training and evaluation."""
        # What other processes wrote meanwhile stays, and a crash leaves the file as it was before or after.
        work = self.path.parent / ".work"
        with hold_lock(work / f"{self.path.name}.lock", wait=True):
            self.read()
            self._results[result.key, result.evaluation] = result
            lines = [_line(one) for one in sorted(self._results.values(), key=_place)]
            write_atomically(self.path, "".join(lines).encode(), work)


def _place(result: Result) -> tuple[str, int, str, str]:
    """What the file is sorted by."""
    return result.row, result.seed, result.evaluation, result.key


def _line(result: Result) -> str:
    """A result as a line of the file; only the order of the fields themselves is not alphabetical."""
    fields = {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in vars(result).items()
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _parse(line: str, where: str) -> Result:
    try:
        return Result(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise BadInputError(
            f"{where} is not a result ({error}); delete the line, and the next run makes the result again"
        ) from error
