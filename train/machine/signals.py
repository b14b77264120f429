"""A first SIGTERM or Ctrl-C asks for a checkpoint after the running step; a second one stops at once."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class StopRequest:
    """Within the `with` block, remembers that the run was asked to stop."""

    def __init__(self) -> None:
        self.signal = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number
