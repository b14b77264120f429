"""Standard streams as a shell may leave them: closed, on a full disk, with a reader that has gone."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from augment_cli.errors import MissingError

_NAMES = ("stdin", "stdout", "stderr")
_OUTPUT = 1


@contextlib.contextmanager
def standard_streams(program: str) -> Iterator[None]:
    """Within the `with` block all three streams are there, and what cannot be printed ends the command."""
    # A stream that the shell closed (`>&-`) is the null device, so that no file which is opened later gets
    # its number and what is printed. A reader that has seen enough, such as `head`, is no error.
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, _stream(io.FileIO(number, "r" if name == "stdin" else "w", closefd=False)))
    sys.stdout.flush()
    sys.stdout = _stream(_Output(program))
    try:
        yield
    finally:
        sys.stdout.flush()


def _stream(raw: io.FileIO) -> io.TextIOWrapper:
    buffered = io.BufferedReader(raw) if raw.readable() else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, "utf-8", "backslashreplace", line_buffering=raw.isatty())


class _Output(io.FileIO):
    """Standard output, whose errors end the process: no handler on the way takes them for those of a file."""

    def __init__(self, program: str) -> None:
        super().__init__(_OUTPUT, "w", closefd=False)
        self._program = program

    def write(self, data: Any) -> int:
        """Write some bytes; whether all of them, `io.BufferedWriter` looks."""
        try:
            return super().write(data)
        except OSError as error:
            # What still waits to be printed may vanish, or Python complains of it once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)
            if isinstance(error, BrokenPipeError):
                raise SystemExit(0) from None
            reason = f"standard output cannot be written ({error.strerror})"
            remedy = "free some disk space or send it elsewhere, then run the same command again"
            print(f"{self._program}: {reason}; {remedy}", file=sys.stderr)
            raise SystemExit(MissingError.exit_code) from None
