"""From exceptions to exit codes: what every command's body is wrapped in."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer

from augment_cli.errors import BadInputError, MixError, UserError, issue_tracker
from augment_cli.errors.visible import visible
from augment_cli.process.exit_codes import Command

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT_CODES = (
    "Exit codes: 0 done, 1 internal error, 2 usage, 3 finished but incomplete, 4 bad input, "
    "5 refuses to mix, 6 something missing on this machine, 130 interrupted."
)

_COMMAND = Command(
    "augment-cli",
    no_memory="memory ran out, or a limit on it (`ulimit -v`, a batch system, a container) was reached; run "
    "the same command again with more of it or a smaller --jobs; finished parts are kept",
    writes="a file of the store",
    kept="finished parts are kept",
    option="--store",
)


def guarded(function: Function) -> Function:
    """Turn expected errors into a line on stderr and their exit code; keep tracebacks for our own bugs."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except typer.Exit:
            raise
        except (Exception, KeyboardInterrupt) as error:
            code = _COMMAND.exit_code(_rewritten(error, kwargs.get("store")) or error)
            if code is None and (damage := _damage(kwargs.get("store"))) is not None:
                code = _COMMAND.exit_code(damage)
            if code is None:
                return _internal_error(error)
            raise typer.Exit(code) from None

    return wrapper  # type: ignore[return-value]


def _rewritten(error: BaseException, store: object) -> UserError | None:
    """What is said of a file that is gone or another while a run writes to the store that is being read."""
    is_gone = isinstance(error, BadInputError | FileNotFoundError | NotADirectoryError)
    if not is_gone or not isinstance(store, str | Path):
        return None
    from augment_cli.store.files import writer_of

    owner = writer_of(Path(store) / ".work" / "lock")
    if owner is None:
        return None
    return MixError(
        f"{store}: another run (process {owner}) is rewriting this store, and what was being read is gone; "
        f"wait for its end, then run the same command again ({error})"
    )


def _damage(store: object) -> UserError | None:
    """What is wrong with the store that a command failed on: no code stands every part that can be forged."""
    if not isinstance(store, str | Path):
        return None
    from augment_cli.reports.soundness import problems_in
    from augment_cli.store.store import Store

    with contextlib.suppress(Exception):
        opened = Store.open(store)
        for name in opened.stages():
            if problems := problems_in(opened, opened.stage(name)):
                more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
                return BadInputError(
                    f"{problems[0]}{more}; `augment-cli verify --store {store}` says what else; "
                    f"`augment-cli remove {name} --store {store}`, and make it anew"
                )
    return None


def _internal_error(error: BaseException) -> None:
    print(visible(traceback.format_exc()), file=sys.stderr, end="")
    print(f"augment-cli: {visible(_whose(error))}", file=sys.stderr)
    raise typer.Exit(1) from None


def _whose(error: BaseException) -> str:
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
                f"say what to mend, otherwise please report them at {issue_tracker()}"
            )
        if place.is_relative_to(ours):
            break
        if not place.is_relative_to(standard) and "site-packages" not in place.parts:
            return f"an error in {place}, line {line}, which is no part of augment-cli; mend it there"
    return f"an internal error, which is our fault; please report the lines above at {issue_tracker()}"
