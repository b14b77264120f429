"""From exceptions to exit codes: what every command's body is wrapped in."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from augment_cli.errors import UserError
from augment_cli.store.files import explain
from augment_cli.visible import visible

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
            print(f"augment-cli: {visible(error)}", file=sys.stderr)
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
                return _internal_error()
            known = explain(error)
            print(f"augment-cli: {visible(known)}", file=sys.stderr)
            raise typer.Exit(known.exit_code) from None
        except Exception:
            return _internal_error()

    return wrapper  # type: ignore[return-value]


def _internal_error() -> None:
    print(visible(traceback.format_exc()), file=sys.stderr, end="")
    message = "augment-cli: an internal error, which is our fault; please report the lines above"
    print(message, file=sys.stderr)
    raise typer.Exit(1) from None
