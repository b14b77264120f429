"""Progress for people: bars with rate and ETA on a terminal, plain lines elsewhere; all of it on stderr."""

from __future__ import annotations

import contextlib
import sys
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
from augment_cli.session.reporter import ProgressLines, Silent


class _RateColumn(ProgressColumn):
    """Rows per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} rows/s" if task.speed else "", style="dim")


class ConsoleReporter(Silent):
    """Says things on stderr, so that stdout stays for data; quiet: nothing but warnings."""

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet

    def _tell(self, message: str, warns: bool = False) -> None:
        if warns or not self._quiet:
            line, style = "Note: " * warns + visible(message), "yellow" if warns else None
            self._console.print(line, style=style, markup=False, soft_wrap=True)

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
        yield ProgressLines(stage, rows, lambda line: print(line, file=sys.stderr, flush=True))
