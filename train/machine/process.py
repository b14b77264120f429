"""A training process: variables that torch reads once, and signals that ask it to stop."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any


def prepare() -> None:
    """Before the first import of torch: choose what makes training on CPUs faster, unless the user has."""
    # torch reads these once, while it is loaded; idle threads that spin take the core from others.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # Huge pages for tensors of megabytes (Linux): a tenth faster, and the same bits.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


class StopRequest:
    """Within the `with` block, SIGTERM or Ctrl-C asks for a checkpoint; a second one stops at once."""

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
