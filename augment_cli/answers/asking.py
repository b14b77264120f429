"""Many requests at a time: tried again, slowed down when the server asks for it, stopped when no use."""

from __future__ import annotations

import contextlib
import functools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from augment_cli.answers.client import Answer, FailedError

_TRIES = 4  # of a request that fails
_WAITS = 100  # of a request that comes too soon
_FIRST_WAIT = 1.0  # seconds, doubled from try to try
_MOST_DOUBLED = 6
_MOMENT = 0.1  # seconds

Item = TypeVar("Item")


class StoppedError(Exception):
    """Nobody waits for the request any more."""


class Pace:
    """How many requests are under way at a time: ever fewer, since the server knows best."""

    def __init__(self, most: int) -> None:
        self.most, self._under_way, self._not_before = most, 0, 0.0
        self._condition, self._is_over, self._waits_until = threading.Condition(), False, 0.0

    @contextlib.contextmanager
    def turn(self) -> Iterator[int]:
        """Wait for a place; the value is how many there were then."""
        with self._condition:
            while not self._is_over:
                wait = self._not_before - time.monotonic()
                if wait <= 0 and self._under_way < self.most:
                    break
                self._condition.wait(wait if wait > 0 else None)
            if self._is_over:
                raise StoppedError
            self._under_way += 1
            most = self.most
        try:
            yield most
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify_all()

    def slow_down(self, most: int, seconds: float) -> None:
        """Halve, once for all requests that began when there were `most` places; all wait so long."""
        with self._condition:
            if most == self.most:
                self.most = max(1, most // 2)
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait, unless it is over."""
        end = time.monotonic() + seconds
        with self._condition:
            while not self._is_over and (left := end - time.monotonic()) > 0:
                self._condition.wait(left)

    def stop(self, seconds: float = 0.0) -> None:
        """Begin no further request, and wait so long for those under way."""
        with self._condition:
            self._is_over, self._waits_until = True, time.monotonic() + seconds
            self._condition.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether no further request begins."""
        return self._is_over

    @property
    def is_late(self) -> bool:
        """Whether those under way are not waited for any more."""
        return self._is_over and time.monotonic() > self._waits_until


class TooManyFailures:
    """Whether it is any use to go on, by the last requests."""

    window = 20

    def __init__(self, share: float) -> None:
        self._share, self._last = share, deque[bool](maxlen=self.window)

    def add(self, has_failed: bool) -> None:
        """Count one."""
        self._last.append(has_failed)

    def is_reached(self, at_end: bool = False) -> bool:
        """Whether too many of the window failed; a window that is not full counts at the end alone."""
        is_full = len(self._last) == self.window or (at_end and bool(self._last))
        return is_full and sum(self._last) > self._share * len(self._last)

    def __str__(self) -> str:
        return f"{sum(self._last)} of the last {len(self._last)} requests got no answer"


def answered(ask: Callable[[], Answer], pace: Pace) -> Answer:
    """The answer to one request, or its last error where it does not come."""
    tries = waits = 0
    while True:
        try:
            with pace.turn() as most:
                return ask()
        except FailedError as error:
            waits += error.is_busy
            tries += not error.is_busy
            if not error.is_passing or tries == _TRIES or waits == _WAITS:
                return Answer(error=str(error))
            doubled = _FIRST_WAIT * 2 ** min(tries + waits - 1, _MOST_DOUBLED)
            if error.is_busy:
                pace.slow_down(most, doubled if error.wait is None else error.wait)
            else:
                pace.sleep(doubled)


def ask_all(
    items: Sequence[Item], ask: Callable[[Item], Answer], pace: Pace
) -> Iterator[list[tuple[Item, Answer]]]:
    """The items with their answers, as many at a time as have come; the next call says that they are kept."""
    # Whoever has an answer that is not kept yet asks nothing: a kill loses what was under way, and no more.
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Item, Answer | Exception] | None] = queue.SimpleQueue()
    for item in items:
        todo.put(item)
    running = min(pace.most, len(items))
    kept = threading.Semaphore(running)

    def work() -> None:
        with contextlib.suppress(StoppedError, queue.Empty):
            while True:
                kept.acquire()
                item = todo.get_nowait()
                try:
                    done.put((item, answered(functools.partial(ask, item), pace)))
                except StoppedError:
                    raise
                except Exception as error:
                    done.put((item, error))
        done.put(None)

    for _ in range(running):
        # A daemon: a request without a time limit keeps no process from its end.
        threading.Thread(target=work, daemon=True).start()
    while running and not pace.is_late:
        found, error = [], None
        for one in _come(done):
            if one is None:
                running -= 1
            elif isinstance(one[1], Exception):
                error = one[1]
            else:
                found.append((one[0], one[1]))
        if found:
            yield found
            kept.release(len(found))
        if error is not None:
            raise error


def _come(done: queue.SimpleQueue[Any]) -> Iterator[Any]:
    """What has come meanwhile; where nothing has, it waits a moment."""
    with contextlib.suppress(queue.Empty):
        yield done.get(timeout=_MOMENT)
        while True:
            yield done.get_nowait()
