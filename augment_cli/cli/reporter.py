"""Progress for people: bars with rate and ETA on a terminal, plain lines elsewhere; all of it on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from augment_cli.errors.visible import visible

_SECONDS_BETWEEN_LINES = 5.0


class _RateColumn(ProgressColumn):
    """Rows per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} rows/s" if task.speed else "", style="dim")


class ConsoleReporter:
    """Says things on stderr, so that stdout stays for data.

    Parameters
    ----------
    quiet : bool
        Say nothing but warnings.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet

    def say(self, message: str) -> None:
        """A line worth reading."""
        if self._quiet:
            return
        self._console.print(visible(message), markup=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """A line that should not be missed."""
        self._console.print(f"Note: {visible(message)}", style="yellow", markup=False, soft_wrap=True)

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A bar on a terminal; otherwise a line every few seconds."""
        if self._quiet:
            yield lambda done: None
            return
        if self._console.is_terminal:
            columns = [
                TextColumn("{task.description:<12}"),
                BarColumn(),
                MofNCompleteColumn(),
                _RateColumn(),
                TimeRemainingColumn(),
            ]
            with Progress(*columns, console=self._console, transient=True) as bars:
                task = bars.add_task(stage, total=rows)
                yield lambda done: bars.advance(task, done)
            return
        yield _PlainProgress(stage, rows)


class _PlainProgress:
    """A line every few seconds; the rate leaves out the first rows, which wait for models to load."""

    def __init__(self, stage: str, rows: int | None) -> None:
        self._stage, self._rows, self._done = stage, rows, 0
        self._last = time.monotonic()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int) -> None:
        self._done += done
        now = time.monotonic()
        start, before = self._first = self._first or (now, self._done)
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        whole = f" of {self._rows:,}" if self._rows else ""
        print(
            f"{self._stage}: {self._done:,}{whole} rows{self._speed(now - start, before)}",
            file=sys.stderr,
            flush=True,
        )

    def _speed(self, seconds: float, before: int) -> str:
        """Rate and time left, once there are a few seconds to tell them from."""
        if seconds < _SECONDS_BETWEEN_LINES or self._done == before:
            return ""
        rate = (self._done - before) / seconds
        left = f", {(self._rows - self._done) / rate:,.0f} s left" if self._rows else ""
        return f", {rate:,.{0 if rate >= 10 else 1}f} rows/s{left}"
