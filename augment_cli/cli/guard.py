"""From exceptions to exit codes: what every command's body is wrapped in."""

from __future__ import annotations

import functools
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer

from augment_cli.cli import INTERRUPTED
from augment_cli.errors import MissingError, UserError
from augment_cli.store.files import explain
from augment_cli.visible import visible

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT_CODES = (
    "Exit codes: 0 done, 1 internal error, 2 usage, 3 finished but incomplete, 4 bad input, "
    "5 refuses to mix, 6 something missing on this machine, 130 interrupted."
)

_NO_MEMORY = (
    "memory ran out, or a limit on it (`ulimit -v`, a batch system, a container) was reached; run the same "
    "command again with more of it or a smaller --jobs; finished parts are kept"
)
_NO_MEMORY_WORDS = (
    "cannot allocate memory",
    "can't allocate memory",
    "failed to map segment",
    "can't start new thread",
    "out of memory",
)


def guarded(function: Function) -> Function:
    """Turn expected errors into a line on stderr and their exit code; keep tracebacks for our own bugs."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UserError as error:
            print(f"augment-cli: {visible(error)}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print(INTERRUPTED, file=sys.stderr)
            raise typer.Exit(130) from None
        except typer.Exit:
            raise
        except OSError as error:
            if error.errno is None and not _means_no_memory(
                error
            ):  # not from the operating system, so our own bug
                return _internal_error(error)
            known = MissingError(f"{_NO_MEMORY} ({error})") if _means_no_memory(error) else explain(error)
            print(f"augment-cli: {visible(known)}", file=sys.stderr)
            raise typer.Exit(known.exit_code) from None
        except Exception as error:
            if _means_no_memory(error):
                print(
                    f"augment-cli: {_NO_MEMORY} ({visible(error) or type(error).__name__})", file=sys.stderr
                )
                raise typer.Exit(MissingError.exit_code) from None
            return _internal_error(error)

    return wrapper  # type: ignore[return-value]


def _internal_error(error: Exception) -> None:
    print(visible(traceback.format_exc()), file=sys.stderr, end="")
    print(f"augment-cli: {visible(_whose(error))}", file=sys.stderr)
    raise typer.Exit(1) from None


def _whose(error: Exception) -> str:
    """Where the code that failed lies: a plug-in's author is not helped by an apology of ours."""
    # What failed in a worker process brings its traceback as text.
    text = str(error.__cause__) if "Traceback" in str(error.__cause__) else ""
    text = text or "".join(traceback.format_tb(error.__traceback__))
    frames = [(Path(name), line) for name, line in re.findall(r'File "([^"<]+)", line (\d+)', text)]
    ours = Path(__file__).parent.parent
    standard = Path(os.__file__).parent
    for place, line in reversed(frames):
        if place.is_relative_to(ours / "augmentations"):
            return (
                f"an error in the augmentation of {place}, line {line}; if it is your own, the lines above "
                "say what to mend, otherwise please report them"
            )
        if place.is_relative_to(ours):
            break
        if not place.is_relative_to(standard) and "site-packages" not in place.parts:
            return f"an error in {place}, line {line}, which is no part of augment-cli; mend it there"
    return "an internal error, which is our fault; please report the lines above"


def _means_no_memory(error: BaseException) -> bool:
    """Whether an error, or what it came from, says that memory ran out."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen).lower()
        is_of_kind = isinstance(seen, OSError | ImportError | RuntimeError)
        if isinstance(seen, MemoryError) or (is_of_kind and any(word in text for word in _NO_MEMORY_WORDS)):
            return True
        seen = seen.__cause__
    return False
