"""How progress reaches a person."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol


class Reporter(Protocol):
    """How progress reaches a person; the default says nothing."""

    def say(self, message: str) -> None:
        """A line worth reading."""

    def warn(self, message: str) -> None:
        """A line that should not be missed."""

    def progress(
        self, stage: str, rows: int | None
    ) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        """A progress display for one stage; the value is called with rows done since the last call."""


class Silent:
    """A reporter that says nothing."""

    def say(self, message: str) -> None:
        """Nothing."""

    def warn(self, message: str) -> None:
        """Nothing."""

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """Nothing."""
        yield lambda done: None
