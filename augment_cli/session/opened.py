"""A store that is held open, and what every stage made in it has in common."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.session.reporter import Reporter, Silent
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store


@dataclass(frozen=True)
class StageResult:
    """What happened to one stage in a run: how long it took, and whether anything was left to do."""

    stage: str
    seconds: float
    was_made: bool


class Opened:
    """A store, an engine and a reporter; see `Session`."""

    def __init__(
        self,
        store: str | Path,
        engine: Engine | None = None,
        reporter: Reporter | None = None,
        shared: bool = False,
        overwrite: bool = False,
    ) -> None:
        if shared and overwrite:
            raise UsageError("--overwrite deletes stages, and --parts lets others write to them; choose one")
        self._overwrite = overwrite
        self._is_new = not Path(store).exists()
        self.store = Store.create(store)
        self.engine = engine or Engine.for_this_machine()
        self.reporter: Reporter = reporter or Silent()
        self.results: list[StageResult] = []
        self._shared = shared
        self._failures: list[str] = []
        self._said: set[str] = set()
        self._lock = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._lock.enter_context(self.store.lock(self._shared))
        self.store.reload()  # another run may have written between opening and locking
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is not None:
                self.store.discard_if_empty(with_folder=self._is_new)
        finally:
            self._lock.close()
        if kind is None and self._failures:
            raise IncompleteError("\n".join(self._failures))

    def take_failures(self) -> list[str]:
        """Messages about parts that failed for good; once taken, they are the caller's to report."""
        failures, self._failures = self._failures, []
        return failures

    @contextlib.contextmanager
    def _keeping(self) -> Iterator[None]:
        """Without `overwrite`: for an earlier stage, which was not the one asked for."""
        overwrite, self._overwrite = self._overwrite, False
        try:
            yield
        finally:
            self._overwrite = overwrite

    def _make_room(self, stages: Sequence[str], settings: Callable[[], Settings]) -> None:
        """With `overwrite`, delete a stage that has other settings, and what was made from it."""
        if self._must_make_room(stages, settings):
            self._remove(stages)

    def _must_make_room(self, stages: Sequence[str], settings: Callable[[], Settings]) -> bool:
        """Whether `overwrite` is given, and one of the stages is there with other settings."""
        present = [stage for stage in stages if stage in self.store.stages()]
        if not self._overwrite or not present:
            return False
        current = settings()
        return not all(
            self.store.stage(stage).settings["fingerprint"] == current.fingerprint
            or self.store.continues(stage, current)
            for stage in present
        )

    def _remove(self, stages: Sequence[str]) -> None:
        """Delete those of the stages that are there, and what was made from them."""
        present = [stage for stage in stages if stage in self.store.stages()]
        hanging = self.store.made_from(*present)
        self.store.remove(*present, *hanging)
        self.reporter.warn(f"--overwrite: removed {', '.join([*present, *hanging])}")

    def _check_parts(self, parts: Collection[int] | None) -> None:
        if parts is not None and (beyond := sorted(set(parts) - set(range(len(self.store.parts))))):
            raise UsageError(f"--parts: there is no part {beyond[0]}, the store has {len(self.store.parts)}")

    @contextlib.contextmanager
    def _timed(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        done = 0

        def count(rows_done: int) -> None:
            nonlocal done
            done += rows_done
            show(rows_done)

        start = time.perf_counter()
        with self.reporter.progress(stage, rows) as show:
            yield count
        self.results.append(StageResult(stage, time.perf_counter() - start, done > 0))
