"""How fast a run is: rows a second, and the share of the time in which the rows were waited for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Speed:
    """A stopwatch of the training loop."""

    def __init__(self, rows: int) -> None:
        self._began, self._rows, self._waited = time.perf_counter(), rows, 0.0

    def waiting_for(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; the time until each is there counts as waiting."""
        asked_at = time.perf_counter()
        for item in items:
            self._waited += time.perf_counter() - asked_at
            yield item
            asked_at = time.perf_counter()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time within the block out."""
        before = time.perf_counter()
        yield
        self._began += time.perf_counter() - before

    def since_last(self, rows: int) -> dict[str, float]:
        """The speed since the last call, or since the start."""
        now = time.perf_counter()
        seconds = now - self._began
        measured = {
            "rows_per_second": round((rows - self._rows) / seconds, 1),
            "waited": round(self._waited / seconds, 5),
        }
        self._began, self._rows, self._waited = now, rows, 0.0
        return measured
