"""A command group that loads an augmentation's code only when its command is run."""

from __future__ import annotations

import difflib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from augment_cli import augmentations


class AugmentationGroup(TyperGroup):
    """The written commands, and one for each registered augmentation."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, augmentations first."""
        return [*augmentations.names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command for the help's listing: of an augmentation, only its name and summary."""
        if cmd_name in augmentations.names():
            return TyperCommand(
                cmd_name, help=augmentations.summary(cmd_name), rich_help_panel="Augmentations"
            )
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run, with all its options; for a name that is not one, those that are like it."""
        if args and not args[0].startswith("-") and args[0] not in (known := self.list_commands(ctx)):
            alike = [f"'{name}'" for name in difflib.get_close_matches(args[0], known)]
            hint = f"Did you mean {' or '.join(alike)}?" if alike else "`augment-cli --help` lists all."
            ctx.fail(f"No such command '{args[0]}'. {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if name in augmentations.names():
            from augment_cli.cli.augmentation_command import make_command
            from augment_cli.cli.guard import guarded

            application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            application.command(name, epilog=None)(guarded(make_command)(name))
            command = typer.main.get_command(application)
        return name, command, rest
