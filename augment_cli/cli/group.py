"""A command group that loads an augmentation's code only when its command is run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from augment_cli import augmentations
from augment_cli.cli import INTERRUPTED
from augment_cli.errors import did_you_mean
from augment_cli.errors.visible import visible


class AugmentationGroup(TyperGroup):
    """The written commands, and one for each registered augmentation."""

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
            from augment_cli.cli.augmentation_command import make_command
            from augment_cli.cli.guard import guarded

            application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            application.command(name, epilog=None)(guarded(make_command)(name))
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
    """The same, with the value `exact` for a `--deduplicate` without one, which Typer cannot say."""
    following = [*arguments[1:], ""]
    return [
        "--deduplicate=exact" if one == "--deduplicate" and other not in ("exact", "near") else one
        for one, other in zip(arguments, following, strict=True)
    ]
