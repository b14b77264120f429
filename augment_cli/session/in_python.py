"""How progress and notes reach who works in Python: bars where somebody looks on, a logger elsewhere."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator

from augment_cli.errors.python_words import in_python
from augment_cli.errors.visible import visible
from augment_cli.session.reporter import Reporter

LOGGER = "augment_cli"
_SECONDS_BETWEEN_LINES = 5.0


def reporter_for_python() -> Reporter:
    """Bars in a notebook and on a terminal (tqdm where it is installed, else rich); else the logger."""
    return Bars() if sys.stderr.isatty() or _is_notebook() else Logged()


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Logged:
    """Lines of the logger `augment_cli`: notes as information, what should not be missed as a warning."""

    def __init__(self) -> None:
        self._logger = logging.getLogger(LOGGER)

    def say(self, message: str) -> None:
        """A line worth reading."""
        self._logger.info(visible(in_python(message)))

    def warn(self, message: str) -> None:
        """A line that should not be missed."""
        self._logger.warning(visible(in_python(message)))

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A line every few seconds, and one at the end."""
        done, last = 0, time.monotonic()
        whole = f" of {rows:,}" if rows else ""

        def count(rows_done: int) -> None:
            nonlocal done, last
            done += rows_done
            if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                self._logger.info("%s: %s%s rows", stage, f"{done:,}", whole)

        yield count
        if done:
            self._logger.info("%s: made, %s rows", stage, f"{done:,}")


class Bars(Logged):
    """A bar for each stage, and notes as lines; both on stderr, as tqdm and rich have it."""

    def say(self, message: str) -> None:
        """A line worth reading."""
        print(visible(in_python(message)), file=sys.stderr)

    def warn(self, message: str) -> None:
        """A line that should not be missed."""
        print(f"Note: {visible(in_python(message))}", file=sys.stderr)

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A bar, gone when the stage is made."""
        if importlib.util.find_spec("tqdm") is not None:
            from tqdm.auto import tqdm

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a notebook without ipywidgets gets a bar of text
                bar = tqdm(total=rows, desc=stage, unit=" rows", leave=False)
            with contextlib.closing(bar):
                yield lambda done: bar.update(done) and None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(stage, total=rows)
            yield lambda done: progress.advance(task, done)
