"""The command itself: its group of commands, its help and version, and from exceptions to exit codes."""

import contextlib
import functools
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from augment_cli import augmentations
from augment_cli.errors import BadInputError, MixError, UserError, did_you_mean, issue_tracker
from augment_cli.errors.visible import visible
from augment_cli.process.exit_codes import Command
from augment_cli.process.interrupts import FINISHED_PARTS_ARE_KEPT as INTERRUPTED
from augment_cli.store.files import with_every_set
from augment_cli.version import RELEASED, __version__

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
                print(visible(traceback.format_exc()), file=sys.stderr, end="")
                print(f"augment-cli: {visible(_whose(error))}", file=sys.stderr)
            raise typer.Exit(1 if code is None else code) from None

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
    """Verify the store that a command failed on: its damage, to be told instead; None where it is sound."""
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


class AugmentationGroup(TyperGroup):
    """The written commands, and one for each registered augmentation."""

    make_command: Callable[[str], Callable[..., None]]  # set by `commands.py`

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, augmentations first."""
        written = super().list_commands(ctx)
        return [*(name for name in augmentations.names() if name not in written), *written]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command for the help's listing: of an augmentation, only its name and summary."""
        if self._is_augmentation(cmd_name):
            return TyperCommand(
                cmd_name, help=augmentations.summary(cmd_name), rich_help_panel="Augmentations"
            )
        return super().get_command(ctx, cmd_name)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """The options before the command's name, read."""
        with _visible_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Read the command's own options, and run it."""
        with _visible_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, with all its options; for a name that is not one, those that are like it."""
        if args and not args[0].startswith("-") and args[0] not in (known := self.list_commands(ctx)):
            hint = did_you_mean(args[0], known) or " `augment-cli --help` lists all."
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        name, command, rest = super().resolve_command(ctx, _with_value(args))
        if name is not None and self._is_augmentation(name):
            application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            application.command(name, epilog=None)(guarded(self.make_command)(name))
            command = typer.main.get_command(application)
        if command is not None:
            _show_switches_alone(command, ctx)
        return name, command, rest

    def _is_augmentation(self, name: str) -> bool:
        # A package may call one like a command of ours, which stays what it is.
        return name in augmentations.names() and name not in self.commands

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the command itself."""
        return _show_switches_alone(super(), ctx)


def _show_switches_alone(command: Any, ctx: Any) -> list[Any]:
    """Leave out `<bool>` behind options that take no value, in the help; returns the options."""
    parameters: list[Any] = command.get_params(ctx)
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


@contextlib.contextmanager
def _visible_errors() -> Iterator[None]:
    """A wrong option is quoted in the message about it, and may hold anything."""
    try:
        yield
    except KeyboardInterrupt:  # while the command's libraries are loaded; Click would call it an error
        print(INTERRUPTED, file=sys.stderr)
        raise typer.Exit(130) from None
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            error.message = visible(message) + _hint(message, error)  # type: ignore[attr-defined]
        raise


def _hint(message: str, error: Exception) -> str:
    """Where a file stands behind a command that takes none there: how it is named."""
    command = getattr(getattr(error, "ctx", None), "command", None)
    takes_files = any(parameter.name == "corpus" for parameter in getattr(command, "params", ()))
    return "; name files with --corpus" if takes_files and "unexpected extra argument" in message else ""


def _with_value(arguments: list[str]) -> list[str]:
    """The same, with what Typer cannot say: a `--deduplicate` without a value, a `--set` with several."""
    arguments = with_every_set(arguments)
    following = [*arguments[1:], ""]
    return [
        "--deduplicate=exact" if one == "--deduplicate" and other not in ("exact", "near") else one
        for one, other in zip(arguments, following, strict=True)
    ]


app = typer.Typer(
    cls=AugmentationGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


def _print_version(is_asked_for: bool) -> None:
    if is_asked_for:
        print(__version__)
        raise typer.Exit


# What `--cite` prints; CITATION.cff says the same.
_BIBTEX = f"""\
@software{{augment_cli,
  title   = {{augment-cli: offline augmentation for contrastive sentence embeddings}},
  author  = {{{{The augment-cli maintainers}}}},
  version = {{{__version__}}},
  year    = {{{RELEASED[:4]}}},
  license = {{Apache-2.0}}
}}"""
_PAPERS = "Please cite the papers behind the methods, too; `augment-cli list --json` names them."


def _print_citation(is_asked_for: bool) -> None:
    if is_asked_for:
        print(_BIBTEX)
        print(_PAPERS, file=sys.stderr)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
    cite: Annotated[
        bool, typer.Option("--cite", callback=_print_citation, is_eager=True, help="print a BibTeX entry")
    ] = False,
) -> None:
    """Offline augmentation for contrastive sentence embeddings.

    Start with `augment-cli una`: it reads the shipped sample, fits TF-IDF and writes hard negatives
    to `./store`. Give your own text with `--corpus`.
    """
