"""Ends a training in which ranks wait for one that does not come, and names it; torchrun stays silent."""

import contextlib
import functools
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

from augment_cli.errors import MissingError

Kind = TypeVar("Kind", bound=type)

_OFTEN = 5.0  # seconds between two signs of life
_GONE = re.compile("gloo/transport|NCCL.*(remote|connection|socket)|[Cc]onnection (reset|closed|refused)")


class Watchdog:
    """A thread that tells the others what this rank does, and reads what they do when it waits for them.

    The board is where ranks leave what the others read: torch's `Store`.
    """

    def __init__(self, rank: int = 0, ranks: int = 1, board: Any = None) -> None:
        self._rank, self._ranks, self._board = rank, ranks, board
        self._entered = 0  # collectives so far
        self._is_waiting = False  # within one
        self._is_busy = True  # with work of its own, however long that takes
        self._beats = 0

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Within the `with` block this rank waits for the others."""
        self._entered += 1
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False

    @contextlib.contextmanager
    def busy(self, is_busy: bool = True) -> Iterator[None]:
        """Within the `with` block the others wait for this rank as long as it lives."""
        before, self._is_busy = self._is_busy, is_busy
        try:
            yield
        finally:
            self._is_busy = before

    @contextlib.contextmanager
    def watching(self, seconds: float) -> Iterator[None]:
        """Within the `with` block this rank waits no longer than this; 0 seconds: for ever."""
        if self._ranks == 1 or not seconds:
            yield
            return
        end = threading.Event()
        board = _board() if self._board is None else self._board
        thread = threading.Thread(target=self._watch, args=(board, seconds, end), daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()

    def _watch(self, board: Any, seconds: float, end: threading.Event) -> None:
        often = min(_OFTEN, seconds / 4)
        entered, since = -1, 0.0
        # A RuntimeError is torch's: the launcher has gone.
        with contextlib.suppress(RuntimeError):
            while True:
                self._tell(board)
                if end.wait(often):
                    return
                if not self._is_waiting or entered != self._entered:
                    entered, since = self._entered, time.monotonic()
                elif time.monotonic() - since > seconds:
                    before = self._read(board)
                    for _ in range(3):  # each tells something new meanwhile, unless it is dead or stopped
                        self._tell(board)
                        if end.wait(often):
                            return
                    if entered == self._entered and (late := self._late(before, self._read(board))):
                        self._leave(late, seconds)
                    since = time.monotonic()
        while not end.wait(often):
            if not self._is_busy:  # a killed launcher takes no rank with it: a checkpoint, and the end
                os.kill(os.getpid(), signal.SIGTERM)
                return

    def _tell(self, board: Any) -> None:
        self._beats += 1
        told = [self._beats, self._entered, self._is_busy, socket.gethostname(), os.getpid()]
        board.set(f"watchdog/{self._rank}", json.dumps(told))

    def _read(self, board: Any) -> dict[int, list]:
        keys = {rank: f"watchdog/{rank}" for rank in range(self._ranks)}
        return {rank: json.loads(board.get(key)) for rank, key in keys.items() if board.check([key])}

    def _late(self, before: dict[int, list], now: dict[int, list]) -> dict[int, str]:
        """The ranks that the others wait for, with a word on each; none where one is busy."""
        silent = [rank for rank in range(self._ranks) if before.get(rank) == now.get(rank)]
        if silent:
            return {rank: _who(rank, now.get(rank)) + " gives no sign of life" for rank in silent}
        least = min(entered for _, entered, *_ in now.values())
        behind = [rank for rank, (_, entered, *_) in now.items() if entered == least]
        if least == self._entered or any(now[rank][2] for rank in behind):
            return {}
        return {rank: _who(rank, now[rank]) + " does not come on" for rank in behind}

    def _leave(self, late: dict[int, str], seconds: float) -> None:
        # No exception reaches a thread that waits inside torch.
        if self._rank == min(set(range(self._ranks)) - set(late)):
            print(
                f"error: {'; '.join(late.values())}, and the others have waited for {seconds:g} s; look at "
                "that process and its machine, then run the same command again: it continues from the newest "
                "checkpoint (--set rank_timeout=SECONDS, 0 for ever)",
                file=sys.stderr,
                flush=True,
            )
        else:
            time.sleep(_OFTEN)  # the launcher ends all when the first one ends, which says why
        os._exit(MissingError.exit_code)


def watched(*names: str) -> Callable[[Kind], Kind]:
    """A decorator of a class: in the methods of these names its `watchdog` knows that a rank waits."""
    # Where a rank has died the others' libraries say so, by an error of their own.

    def waiting(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def wrapper(self: Any, *arguments: Any, **options: Any) -> Any:
            try:
                with self.watchdog.waiting():
                    return method(self, *arguments, **options)
            except RuntimeError as error:
                if not _GONE.search(str(error)):
                    raise
                raise MissingError(
                    "another process of this training has ended or cannot be reached; see what it said, then "
                    "run the same command again: it continues from the newest checkpoint"
                ) from error

        return wrapper

    def decorate(kind: Kind) -> Kind:
        for name in names:
            setattr(kind, name, waiting(getattr(kind, name)))
        return kind

    return decorate


def _who(rank: int, told: list | None) -> str:
    return f"rank {rank}" if told is None else f"rank {rank} (process {told[4]} on {told[3]})"


def _board() -> Any:
    """A connection of our own to the launcher's store, which nothing that training waits for can block."""
    import torch.distributed as dist

    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    return dist.TCPStore(*address, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=30))
