"""How progress and notes reach a person: not at all, in lines of a logger, or in bars."""

import contextlib
import html
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from augment_cli.errors.python_words import in_python
from augment_cli.errors.visible import visible

_LOGGER = logging.getLogger("augment_cli")
SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_PICTURES = 0.2


class Silent:
    """A reporter that says nothing; others derive from it."""

    def say(self, message: str) -> None:
        """A line worth reading."""
        self._tell(message)

    def warn(self, message: str) -> None:
        """A line that should not be missed."""
        self._tell(message, warns=True)

    def _tell(self, message: str, warns: bool = False) -> None:
        pass

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """Progress of one stage; the value is called with the rows done since the last call."""
        yield lambda done: None


Reporter = Silent


class ProgressLines:
    """A line every few seconds; the rate leaves out the first rows, which wait for models to load."""

    def __init__(self, stage: str, rows: int | None, say: Callable[[str], None]) -> None:
        self._stage, self._rows, self._say, self.done = stage, rows, say, 0
        self._last = time.monotonic()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int) -> None:
        """Count further rows that are done."""
        self.done += done
        now = time.monotonic()
        start, before = self._first = self._first or (now, self.done)
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            whole = f" of {self._rows:,}" if self._rows else ""
            self._say(f"{self._stage}: {self.done:,}{whole} rows{self._speed(now - start, before)}")

    def _speed(self, seconds: float, before: int) -> str:
        """Rate and time left, once there are a few seconds to tell them from."""
        if seconds < SECONDS_BETWEEN_LINES or self.done == before:
            return ""
        rate = (self.done - before) / seconds
        left = f", {(self._rows - self.done) / rate:,.0f} s left" if self._rows else ""
        return f", {rate:,.{0 if rate >= 10 else 1}f} rows/s{left}"


class Logged(Silent):
    """Lines of the logger `augment_cli`: notes as information, what should not be missed as a warning."""

    def _tell(self, message: str, warns: bool = False) -> None:
        _LOGGER.log(logging.WARNING if warns else logging.INFO, visible(in_python(message)))

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A line every few seconds, and one at the end."""
        lines = ProgressLines(stage, rows, _LOGGER.info)
        yield lines
        if lines.done:
            _LOGGER.info("%s: made, %s rows", stage, f"{lines.done:,}")


class Bars(Silent):
    """A bar for each stage on a terminal, else lines; all on stderr, as stdout is for data."""

    def __init__(self, quiet: bool = False, words: Callable[[str], str] = str) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._quiet, self._words = quiet, words  # nothing but warnings; how a message is said here

    def _tell(self, message: str, warns: bool = False) -> None:
        if warns or not self._quiet:
            line, style = "Note: " * warns + visible(self._words(message)), "yellow" if warns else None
            self._console.print(line, style=style, markup=False, soft_wrap=True)

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A bar with rate and time left, gone when the stage is made; elsewhere a line every few seconds."""
        if self._quiet:
            yield lambda done: None
        elif self._console.is_terminal:
            from rich import progress as rich

            class Rate(rich.ProgressColumn):
                def render(self, task: rich.Task) -> str:
                    return f"{task.speed:,.0f} rows/s" if task.speed else ""

            name, bar, of = (
                rich.TextColumn("{task.description:<12}"),
                rich.BarColumn(),
                rich.MofNCompleteColumn(),
            )
            columns = (name, bar, of, Rate(), rich.TimeRemainingColumn())
            with rich.Progress(*columns, console=self._console, transient=True) as bars:
                task = bars.add_task(stage, total=rows)
                yield lambda done: bars.advance(task, done)
        else:
            yield ProgressLines(stage, rows, lambda line: print(line, file=sys.stderr, flush=True))


class InNotebook(Silent):
    """One line for all that a call makes, with a bar while a stage is made; warnings stay below it."""

    def __init__(self) -> None:
        self._line: Any = None  # IPython's handle of what is shown
        self._next = 0.0  # monotonic seconds; browsers are not asked more often than people look

    def _tell(self, message: str, warns: bool = False) -> None:
        text = html.escape(visible(in_python(message)))
        if warns:
            _displayed(f"<p>Note: {text}</p>")
        else:
            self._show(text)

    def _show(self, content: str) -> None:
        if self._line is None:
            self._line = _displayed(content)
        else:
            self._line.update(_Shown(content))

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """A bar, gone when the stage is made."""
        total = 0

        def show(done: int) -> None:
            nonlocal total
            total += done
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + _SECONDS_BETWEEN_PICTURES
                share = f'value="{total}" max="{rows}"' if rows else ""
                of = f" of {rows:,}" if rows else ""
                self._show(f"<progress {share}></progress> {html.escape(stage)}: {total:,}{of} rows")

        try:
            yield show
        finally:
            if self._line is not None:
                self._show("")


def framed(page: Path) -> str:
    """A page that was written, for a notebook: in a frame of its own, so that nothing of it gets out."""
    text = html.escape(page.read_text("utf-8"))
    return f'<iframe srcdoc="{text}" style="width:100%;height:40rem;border:1px solid #8a929d"></iframe>'


class _Shown:
    """A piece of HTML; what has no HTML shows nothing."""

    def __init__(self, content: str) -> None:
        self._content = content

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return self._content


def _displayed(content: str) -> Any:
    """IPython's handle of a new piece of HTML below a cell."""
    return sys.modules["IPython"].display.display(_Shown(content), display_id=True)


def reporter_for_python() -> Reporter:
    """A line in a notebook, bars on a terminal; else the logger."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        return InNotebook()
    return Bars(words=in_python) if sys.stderr.isatty() else Logged()
