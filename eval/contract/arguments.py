"""A command's arguments: argparse's, whose errors show what was typed without obeying it."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from augment_cli.errors.visible import visible_line
from augment_cli.places import as_typed


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser; what an error repeats of the command line cannot command the terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.prog = as_typed(self.prog)

    def format_help(self) -> str:
        """The help, with commands as they are typed here."""
        return as_typed(super().format_help())

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and leave with exit code 2.

        Parameters
        ----------
        message : str
            What is wrong, perhaps with words of the command line.
        """
        super().error(visible_line(message))
