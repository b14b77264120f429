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

from augment_cli.errors import UserError
from augment_cli.store.files import explain

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT_CODES = (
    "Exit codes: 0 done, 1 internal error, 2 usage, 3 finished but incomplete, 4 bad input, "
    "5 refuses to mix, 6 something missing on this machine, 130 interrupted."
)


def guarded(function: Function) -> Function:
    """Turn expected errors into a line on stderr and their exit code; keep tracebacks for our own bugs."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UserError as error:
            print(f"augment-cli: {error}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print("\nInterrupted. Finished parts are kept; the same command resumes.", file=sys.stderr)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except typer.Exit:
            raise
        except OSError as error:
            if error.errno is None:  # not from the operating system, so our own bug
                return _internal_error(error)
            known = explain(error)
            print(f"augment-cli: {known}", file=sys.stderr)
            raise typer.Exit(known.exit_code) from None
        except Exception as error:
            return _internal_error(error)

    return wrapper  # type: ignore[return-value]


def _internal_error(error: Exception) -> None:
    traceback.print_exc()
    print(f"augment-cli: {_whose(error)}", file=sys.stderr)
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
