"""Ctrl-C, and the streams that a command has from its start."""

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from augment_cli.errors import MissingError
from augment_cli.process.at_start import EXIT_CODE, leave

FINISHED_PARTS_ARE_KEPT = "\nInterrupted. Finished parts are kept; the same command resumes."


@contextlib.contextmanager
def handled(line: str) -> Iterator[None]:
    """Within the `with` block a Ctrl-C ends the command with a line; after it, it is not taken any more."""
    # While a module is loaded it ends the process at once: an exception raised there is caught by some
    # libraries and leaves others half loaded, and what has been begun is kept as if the process were
    # killed. Anywhere else it is a `KeyboardInterrupt`, as usual. Wherever that is caught on its way, the
    # command does not end as if it were done.
    if threading.current_thread() is not threading.main_thread():  # only that one gets signals
        yield
        return
    was_interrupted = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal was_interrupted
        was_interrupted = True
        if _is_loading(frame):
            os.write(2, f"{line}\n".encode())
            os._exit(EXIT_CODE)
        raise KeyboardInterrupt

    # A shell that starts commands in the background lets them ignore it.
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, leave):
        signal.signal(signal.SIGINT, on_interrupt)
    code: int | str | None = 0
    try:
        yield
    except KeyboardInterrupt:
        was_interrupted = True
    except SystemExit as stop:
        code = stop.code
    finally:
        # What is left is the interpreter's own end, which a Ctrl-C would only litter with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if was_interrupted:
        # Python notes that an interrupt left an `eval` or `exec` of a string, wherever it was caught later,
        # and would end by the signal instead of with the exit code. The next one takes the note away.
        eval("None")
    if was_interrupted and code != EXIT_CODE:
        print(line, file=sys.stderr)
        code = EXIT_CODE
    sys.exit(code)


@contextlib.contextmanager
def deferred(stop: Callable[[], None], line: str) -> Iterator[None]:
    """Within the block a first Ctrl-C or SIGTERM calls `stop` and acts at its end, a second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_signal(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1:
            os.write(2, f"\n{line}\n".encode())
            stop()
        else:
            restore()
            signal.raise_signal(number)

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        restore()
        if len(came) == 1:
            signal.raise_signal(came[0])
    if came:  # whoever handles it otherwise: what was asked for is not all there
        raise KeyboardInterrupt


def _is_loading(frame: FrameType | None) -> bool:
    """Whether a module is being loaded somewhere up the stack."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


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
