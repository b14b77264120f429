"""Make the n-th file operation of a run fail, or the whole process "die" there.

Counted are all operations with which the package changes a file system: opening for writing, each write,
flush and close, fsync, making folders, renaming, deleting, locking.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import fcntl
import io
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any


class Crash(BaseException):
    """The process is dead: nothing of it runs any more, so nothing catches this either."""


class Faults:
    """Counts operations; the `at`-th fails with an errno, or it and all after it with a crash."""

    def __init__(self, at: int | None = None, error: int | None = None) -> None:
        self.at, self.error = at, error
        self.count = 0
        self.names: list[str] = []

    @property
    def was_hit(self) -> bool:
        return self.at is not None and self.count >= self.at

    def pass_or_fail(self, name: str, before_failing: Callable[[], object] = lambda: None) -> None:
        self.count += 1
        self.names.append(name)
        if self.at is None or self.count < self.at:
            return
        if self.error is None:
            if self.count == self.at:
                before_failing()
            raise Crash(name)
        if self.count == self.at:
            before_failing()
            raise OSError(self.error, os.strerror(self.error))


class _FaultyFile:
    """A file whose writes, flushes and close are counted; a failing write leaves half of its bytes."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self._file, self._faults = file, faults

    def write(self, data: Any) -> int:
        half = memoryview(data).cast("B")[: len(memoryview(data)) // 2] if not isinstance(data, str) else data
        self._faults.pass_or_fail("write", lambda: (self._file.write(half), self._file.flush()))
        return self._file.write(data)

    def flush(self) -> None:
        if not self._file.closed:
            self._faults.pass_or_fail("flush")
            self._file.flush()

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._faults.pass_or_fail("close")

    def __enter__(self) -> _FaultyFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def injected(faults: Faults) -> Iterator[Faults]:
    """Count and fail the operations of this process inside the `with` block."""
    counted_of_os = ("replace", "rename", "fsync", "mkdir", "unlink", "rmdir")
    places: list[tuple[Any, str]] = [(os, name) for name in (*counted_of_os, "open")]
    places += [(fcntl, "flock"), (pathlib.Path, "open"), (builtins, "open"), (io, "open")]
    saved = {(place, name): getattr(place, name) for place, name in places}

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*arguments: Any, **options: Any) -> Any:
            faults.pass_or_fail(name)
            return real(*arguments, **options)

        return operation

    real_path_open, real_os_open = pathlib.Path.open, os.open

    def path_open(self: pathlib.Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode in ("r", "rb"):
            return real_path_open(self, mode, *arguments, **options)
        faults.pass_or_fail("open")
        file = real_path_open(self, mode, *arguments, **options)
        return file if "a" in mode else _FaultyFile(file, faults)

    def os_open(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        faults.pass_or_fail("os.open")
        return real_os_open(path, flags, *arguments, **options)

    def no_other_open(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        assert set(mode) <= set("rbt+U") and "+" not in mode, f"{path} is opened past the counted operations"
        return saved[(builtins, "open")](path, mode, *arguments, **options)

    try:
        for name in counted_of_os:
            setattr(os, name, counted(name, saved[(os, name)]))
        fcntl.flock = counted("flock", saved[(fcntl, "flock")])
        pathlib.Path.open = path_open  # type: ignore[method-assign]
        os.open = os_open
        builtins.open = no_other_open  # type: ignore[assignment]
        yield faults
    finally:
        for (place, name), real in saved.items():
            setattr(place, name, real)


ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "crash": None}


def failed_at(number: int, error: str, act: Callable[[], object]) -> tuple[Faults, bool]:
    """Let an act's n-th operation fail, which nothing may turn into another error; whether the act ended."""
    faults = Faults(number, ERRORS[error])
    try:
        with injected(faults):
            act()
    except OSError as raised:
        assert raised.errno == ERRORS[error]
    except Crash:
        assert error == "crash"
    else:
        return faults, True
    return faults, False
