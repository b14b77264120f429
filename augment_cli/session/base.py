"""A store that is held open: what all stages made in it have in common."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.parameters import declared
from augment_cli.contract.reasons import Reason, in_words
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.session.reporter import Reporter, Silent
from augment_cli.store.manifest import Stage
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.mine_parameters import MINED_STAGE

_FEW = 0.03  # of the rows
_MADE = ("changed", "mined", "given")  # what the statistics of a part call rows with a text


def hardly_any(stage: Stage) -> str:
    """A line on a stage of which nearly no row has a text; empty where enough have one."""
    made, reasons = 0, Counter[str]()
    for part in stage.parts.values():
        numbers = part.statistics
        made += sum(numbers.get(name, 0) for name in _MADE)
        reasons.update(numbers.get("reasons") or {key: numbers[key] for key in Reason if key in numbers})
    del reasons[Reason.BEYOND_LIMIT]  # as was asked for
    rows = made + reasons.total()
    if not reasons or made >= _FEW * rows:
        return ""
    reason, times = reasons.most_common(1)[0]
    return (
        f"{stage.name}: {made:,} of {rows:,} rows have a text; of {times:,} the reason is {str(reason)!r}, "
        f"{in_words(reason)}. {_advice(stage.settings, reason)}"
    )


def _advice(settings: dict[str, Any], reason: str) -> str:
    """Which options may change it."""
    maker, parameters = settings["stage"], settings["parameters"]
    if maker == MINED_STAGE:
        if reason == Reason.NO_CANDIDATE and parameters["by"] == "tfidf":
            return (
                f"Words in more than --max-df {parameters['max_df']:g} of the sentences do not count (1: all "
                "do); --by vectors goes by no words"
            )
        return (
            "--range-min, --range-max, --near-duplicate, --max-score, --min-score and the margins decide it"
        )
    if maker not in augmentations.names():
        return "Look at what it was read from"
    options = [f"--{item.name.replace('_', '-')}" for item in declared(augmentations.get(maker).parameters)]
    if not options:
        return "No option changes that: leave the stage out, or read other text"
    return f"{', '.join(options)} decide it, if anything does (`augment-cli {maker} --help`)"


@dataclass(frozen=True)
class StageResult:
    """What happened to one stage in a run: how long it took, and whether anything was left to do."""

    stage: str
    seconds: float
    was_made: bool


class StoreSteps:
    """A store with what every step needs beside it."""

    def __init__(
        self,
        store: str | Path,
        engine: Engine | None = None,  # by default one worker for each core
        reporter: Reporter | None = None,
        shared: bool = False,  # let other processes make other parts of the same stages (`--parts`)
        overwrite: bool = False,  # delete the stage that is asked for where its settings differ
        sample: bool = False,  # take the shipped sample where no corpus is named and the store has none
    ) -> None:
        if shared and overwrite:
            raise UsageError("--overwrite deletes stages, and --parts lets others write to them; choose one")
        self._is_new, self._lock = not Path(store).exists(), contextlib.ExitStack()
        self.store, self.reporter = Store.create(store), reporter or Silent()
        self.engine = engine or Engine.for_this_machine()
        self.is_shared, self.overwrites, self.takes_sample = shared, overwrite, sample
        self.results: list[StageResult] = []  # what happened to each stage so far
        self.failures: list[str] = []  # messages about parts that failed for good
        self._said: set[str] = set()  # notes: a recipe has several stages of which the same is true

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """Without `overwrite`: for an earlier stage, which was not the one asked for."""
        overwrites, self.overwrites = self.overwrites, False
        try:
            yield
        finally:
            self.overwrites = overwrites

    def make_room(self, stages: Sequence[str], settings: Callable[[], Settings]) -> None:
        """With `overwrite`, delete a stage that has other settings, and what was made from it."""
        if self.must_make_room(stages, settings):
            self.remove(stages)

    def must_make_room(
        self, stages: Sequence[str], settings: Callable[[], Settings], was_refused: bool = False
    ) -> bool:
        """Whether one of the stages is there with other settings, and is to go or holds nobody's work."""
        present = [stage for stage in stages if stage in self.store.stages()]
        if not (self.overwrites or was_refused) or not present:
            return False
        current = settings()
        return not all(
            self.store.stage(stage).settings["fingerprint"] == current.fingerprint
            or self.store.continues(stage, current)
            for stage in present
        )

    def remove(self, stages: Sequence[str]) -> None:
        """Delete those of the stages that are there, and what was made from them."""
        present = [stage for stage in stages if stage in self.store.stages()]
        hanging = self.store.made_from(*present)
        self.store.remove(*present, *hanging)
        why = "--overwrite" if self.overwrites else "what a refused corpus left"
        self.reporter.warn(f"{why}: removed {', '.join([*present, *hanging])}")

    def check_parts(self, parts: Collection[int] | None) -> None:
        """Refuse parts that the store does not have, unless others are there, as in an array's last task."""
        last = len(self.store.parts) - 1
        beyond = sorted(number for number in parts or () if number > last)
        if beyond and len(beyond) == len(parts or ()):
            raise UsageError(
                f"--parts: there is no part {beyond[0]}; numbers start at 0, and the last one here is {last}"
            )
        if beyond:
            self.reporter.warn(f"--parts: {beyond[0]} and higher are left out, as the last part is {last}")

    @contextlib.contextmanager
    def timed(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """Make a stage within the `with` block; its value is called with rows done since the last call."""
        done = 0

        def count(rows_done: int) -> None:
            nonlocal done
            done += rows_done
            show(rows_done)

        start = time.perf_counter()
        with self.reporter.progress(stage, rows) as show:
            yield count
        self.results.append(StageResult(stage, time.perf_counter() - start, done > 0))
        if done and self.store.has(stage) and (line := hardly_any(self.store.stage(stage))):
            self.reporter.warn(line)
